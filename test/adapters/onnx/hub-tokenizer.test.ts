import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HubTokenizer } from '../../../src/adapters/onnx/hub-tokenizer.js';
import { tokenizerTexts } from '../../fixtures/tokenizer/texts.mjs';
import { miniLm, modelForTests } from '../../models/installed-model.js';

interface Expected {
  tokenizerSha256: string;
  textsSha256: string;
  maxTokens: number;
  texts: number;
  truncated: number;
  digests: string;
  lengths: string;
  firstIds: string[];
}

const fixture = new URL('../../fixtures/tokenizer/expected.json', import.meta.url);
const expected: Expected = JSON.parse(readFileSync(fixture, 'utf8'));
const model = await modelForTests();
const tokenizerFile = join(model.directory, 'tokenizer.json');
const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

describe.skipIf(model.missing !== undefined)('HubTokenizer with all-MiniLM-L6-v2', () => {
  it('gives the ids and the truncation of the Python reference for every text', async () => {
    const texts = tokenizerTexts();
    expect(texts.length).toBeGreaterThanOrEqual(2_000);
    expect(texts.length).toBe(expected.texts);
    expect(sha256(JSON.stringify(texts))).toBe(expected.textsSha256);
    expect(sha256(readFileSync(tokenizerFile))).toBe(expected.tokenizerSha256);
    expect(expected.maxTokens).toBe(miniLm.maxTokens);

    const tokenizer = await HubTokenizer.open(tokenizerFile, miniLm.maxTokens);
    const digests = expected.digests.split(' ');
    const lengths = expected.lengths.split(' ').map(Number);
    const different: number[] = [];
    let truncated = 0;
    for (const [at, text] of texts.entries()) {
      const encoded = await tokenizer.encode(text);
      if (encoded.truncated) truncated += 1;
      if (at < expected.firstIds.length)
        expect([...encoded.ids.slice(0, 16)].join(' '), `text ${at}`).toBe(expected.firstIds[at]);
      const digest = sha256([Number(encoded.truncated), ...encoded.ids].join(',')).slice(0, 16);
      if (digest !== digests[at] || encoded.ids.length !== lengths[at]) different.push(at);
    }
    expect(different).toEqual([]);
    expect(truncated).toBe(expected.truncated);
  });

  it('reads a long text in heads without changing its ids', async () => {
    const tokenizer = await HubTokenizer.open(tokenizerFile, miniLm.maxTokens);
    const gap = ' '.repeat(200_000);
    const words = 'alpha beta ΟΔΥΣΣΕΥΣ gamma '.repeat(40_000);
    const short = await tokenizer.encode(words.slice(0, 8_000));
    for (const text of [words, gap + words]) {
      const long = await tokenizer.encode(text);
      expect(long.truncated).toBe(true);
      expect([...long.ids]).toEqual([...short.ids]);
    }
    const sparse = await tokenizer.encode(`alpha${gap}beta`);
    expect([...sparse.ids]).toEqual([...(await tokenizer.encode('alpha beta')).ids]);
    expect(sparse.truncated).toBe(false);
  });

  it('takes lone surrogates as the reference takes U+FFFD', async () => {
    const tokenizer = await HubTokenizer.open(tokenizerFile, miniLm.maxTokens);
    const lone = await tokenizer.encode('a\ud800b');
    expect([...lone.ids]).toEqual([...(await tokenizer.encode('a\ufffdb')).ids]);
  });

  it('says where each token stands, in UTF-16 units', async () => {
    const tokenizer = await HubTokenizer.open(tokenizerFile, miniLm.maxTokens);
    const text = 'Üben 😀 netty-codec: 漢字';
    const { spans, ids } = await tokenizer.encode(text, { spans: true });
    expect(spans).toHaveLength(2 * ids.length);
    const words = Array.from(ids, (_, token) => text.slice(spans![2 * token], spans![2 * token + 1]));
    expect(words[0]).toBe('');
    expect(words.at(-1)).toBe('');
    expect(words.join('')).toBe(text.replaceAll(' ', ''));
    expect((await tokenizer.encode(text)).spans).toBeUndefined();
  });

  it('refuses a file that is no tokenizer', async () => {
    await expect(HubTokenizer.open(join(model.directory, 'errata-model.json'), 256)).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    });
  });
});
