import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Tokenizer } from '@anush008/tokenizers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlainTextReader } from '../../../src/adapters/onnx/plain-text-reader.js';
import { PlainWordPieces } from '../../../src/adapters/onnx/plain-word-pieces.js';
import { tokenizerTexts } from '../../fixtures/tokenizer/texts.mjs';

const fixtures = fileURLToPath(new URL('../../fixtures/models/', import.meta.url));
const json = readFileSync(`${fixtures}tiny-bert-reranker/tokenizer.json`, 'utf8');

function library(file = json): Tokenizer {
  const tokenizer = Tokenizer.fromString(file);
  tokenizer.disableTruncation();
  tokenizer.disablePadding();
  return tokenizer;
}

async function open(): Promise<PlainTextReader> {
  const reader = await PlainTextReader.beside(library(), json);
  if (reader === undefined) throw new Error('Expected a reader for a BERT tokenizer, received none');
  return reader;
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCharCode(from + at));

/** Words that the vocabulary knows, knows in pieces and does not know, and every character in between. */
const characters = fc.string({
  unit: fc.constantFrom(...range(0x20, 0x7e), '\t', '\n', '\r', ...range(0x2010, 0x2027)),
  maxLength: 200,
});
const words = fc
  .array(
    fc.constantFrom(
      'the',
      'scanner',
      'Unaffected',
      'CVE-2021-44228',
      'naively',
      'q'.repeat(100),
      'q'.repeat(101),
    ),
  )
  .map((list) => list.join(' '));
const plain = fc.oneof(characters, words).filter((text) => !/\[(PAD|UNK|CLS|SEP|MASK)\]/.test(text));

describe('plain text of a BERT tokenizer', () => {
  it('gives the ids and places of the library for whatever plain text holds', async () => {
    const [reader, tokenizer] = [await open(), library()];
    await fc.assert(
      fc.asyncProperty(plain, async (text) => {
        const ours = reader.encode(text, Number.POSITIVE_INFINITY, true);
        const theirs = await tokenizer.encode(text);
        expect([...(ours?.ids ?? [])]).toEqual(theirs.getIds());
        expect([...(ours?.spans ?? [])]).toEqual(theirs.getOffsets().flat());
        expect(ours?.truncated).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('cuts texts and pairs as the library does', async () => {
    const [reader, tokenizer] = [await open(), library()];
    await fc.assert(
      fc.asyncProperty(plain, plain, fc.integer({ min: 4, max: 40 }), async (first, second, most) => {
        tokenizer.setTruncation(most);
        const single = await tokenizer.encode(first);
        const pair = await tokenizer.encode(first, second);
        const cut = reader.encode(first, most - 2, false);
        expect([...(cut?.ids ?? [])]).toEqual(single.getIds());
        const pieces = reader.read(first);
        const ours = pieces && reader.encodePair(pieces, second, most - 3);
        expect([...(ours?.ids ?? [])]).toEqual(pair.getIds());
        expect([...(ours?.typeIds ?? [])]).toEqual(pair.getTypeIds());
        tokenizer.disableTruncation();
        expect(cut?.truncated).toBe((await tokenizer.encode(first)).getLength() > most);
      }),
      { numRuns: 300 },
    );
  });

  it('reads reference texts that are plain and leaves every other one to the library', async () => {
    const reader = await open();
    const texts = tokenizerTexts();
    const own = texts.filter((text) => reader.read(text) !== undefined);
    const odd = own.filter((text) => /[^\t\n\r\x20-\x7e\u2010-\u2027]/.test(text));
    expect(odd).toEqual([]);
    expect(own.length).toBeGreaterThan(100);
    for (const text of ['naïve', 'a\u0000b', 'a\u2028b', 'a\u200bb', 'the [SEP] token', 'x '.repeat(5_000)])
      expect(reader.read(text)).toBeUndefined();
  });

  it('is not used where the file says something else than it knows', async () => {
    const parsed = JSON.parse(json);
    const changed = (change: object) => JSON.stringify({ ...parsed, ...change });
    expect(PlainWordPieces.of(json)).toBeDefined();
    expect(PlainWordPieces.of(changed({ pre_tokenizer: { type: 'Whitespace' } }))).toBeUndefined();
    expect(PlainWordPieces.of(changed({ normalizer: null }))).toBeUndefined();
    // Another template than [CLS] a [SEP] b [SEP] is found by trying.
    const other = changed({ post_processor: null });
    expect(await PlainTextReader.beside(library(other), other)).toBeUndefined();
  });
});
