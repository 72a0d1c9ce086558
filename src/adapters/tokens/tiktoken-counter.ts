import { createRequire } from 'node:module';
import type { Tiktoken, TiktokenBPE } from 'js-tiktoken/lite';
import type { TokenCounter } from '../../ports/token-counter.js';

const require = createRequire(import.meta.url);

/** Text is counted in pieces of about this size: bounds nothing but the memory of one call. */
const PIECE_CHARS = 4_096;
/**
 * The library's merge is quadratic in an unbroken run (8,000 letters take 4 s, 256 take 5 ms), so longer runs are cut.
 * Each cut can add a token, never lose more than one.
 */
const MAX_RUN_CHARS = 256;

/**
 * A vocabulary from js-tiktoken's bundled ranks, loaded at the first count (o200k_base: 0.5 s and 60 MB) and kept. A load
 * that fails is tried again. Text that looks like a special token is counted as the plain text that it is.
 */
export class TiktokenCounter implements TokenCounter {
  readonly name: string;
  #encoding: Tiktoken | undefined;

  constructor(name: string) {
    this.name = name;
  }

  count(text: string): number {
    if (text === '') return 0;
    this.#encoding ??= load(this.name);
    let tokens = 0;
    for (const piece of pieces(text)) tokens += this.#encoding.encode(piece, [], []).length;
    return tokens;
  }
}

function load(name: string): Tiktoken {
  const library: { Tiktoken: typeof Tiktoken } = require('js-tiktoken/lite');
  const ranks: TiktokenBPE & { default?: TiktokenBPE } = require(`js-tiktoken/ranks/${name}`);
  return new library.Tiktoken(ranks.default ?? ranks);
}

/** A space between two other characters: no token of these vocabularies reaches over its left edge. */
const BOUNDARY = /(?<=\S) (?=\S)/g;

/**
 * Cuts text where the count does not change (before single spaces), and a run without such a place every
 * `MAX_RUN_CHARS`, never inside a surrogate pair.
 */
function* pieces(text: string): Generator<string> {
  let start = 0;
  let end = 0;
  const cuts = [...text.matchAll(BOUNDARY)].map((match) => match.index);
  for (const cut of [...cuts, text.length]) {
    if (cut - end > MAX_RUN_CHARS || cut - start > PIECE_CHARS) {
      if (end > start) yield text.slice(start, end);
      start = end;
      while (cut - start > MAX_RUN_CHARS) {
        const stop = endOfCharacter(text, start + MAX_RUN_CHARS);
        yield text.slice(start, stop);
        start = stop;
      }
    }
    end = cut;
  }
  if (end > start) yield text.slice(start, end);
}

function endOfCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}
