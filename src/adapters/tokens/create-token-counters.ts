import { ErrataError } from '../../domain/errors.js';
import type { TokenCounter, TokenCounters } from '../../ports/token-counter.js';
import { TiktokenCounter } from './tiktoken-counter.js';
import { utf8ByteCounter } from './utf8-byte-counter.js';

/** The vocabulary of the models that most prompts go to. */
const DEFAULT_TOKENIZER = 'o200k_base';

/** `o200k_base` (default), `cl100k_base`, and `bytes`, an estimate on the safe side. Vocabularies load at first use. */
export function createTokenCounters(): TokenCounters {
  const counters: readonly TokenCounter[] = [
    new TiktokenCounter(DEFAULT_TOKENIZER),
    new TiktokenCounter('cl100k_base'),
    utf8ByteCounter,
  ];
  const names = counters.map((counter) => counter.name);
  return {
    names: () => names,
    get(name = DEFAULT_TOKENIZER) {
      const counter = counters.find((candidate) => candidate.name === name);
      if (counter !== undefined) return counter;
      throw new ErrataError(
        'UNKNOWN_TOKENIZER',
        `Expected a tokenizer of ${names.join(', ')}, received ${JSON.stringify(name.slice(0, 80))}`,
      );
    },
  };
}
