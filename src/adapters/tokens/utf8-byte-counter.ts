import type { TokenCounter } from '../../ports/token-counter.js';

/**
 * Byte-level vocabularies average about 4 bytes a token on English and 3 on most other text; 3 overestimates both.
 * Only dense symbols and random strings have fewer bytes a token.
 */
const BYTES_PER_TOKEN = 3;

/** An estimate on the safe side for models whose tokenizer is not public. */
export const utf8ByteCounter: TokenCounter = {
  name: 'bytes',
  count: (text) => Math.ceil(Buffer.byteLength(text, 'utf8') / BYTES_PER_TOKEN),
};
