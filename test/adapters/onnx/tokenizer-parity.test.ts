import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { HubTokenizer } from '../../../src/adapters/onnx/hub-tokenizer.js';
import { tokenizerTexts } from '../../fixtures/tokenizer/texts.mjs';

/** Written by scripts/reference/tokenizer_reference.py. */
interface Kind {
  readonly truncated: number;
  readonly distinctIds: number;
  /** Four base64 characters each. */
  readonly texts: string;
  readonly pairs: string;
  readonly firstIds: readonly string[];
}
interface Expected {
  readonly textsSha256: string;
  readonly texts: number;
  readonly maxTokens: number;
  /** Code points of each text of a pair. */
  readonly pairHead: number;
  readonly kinds: Readonly<Record<string, Kind>>;
}

const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url));
const expected: Expected = JSON.parse(readFileSync(join(fixtures, 'tokenizer', 'kinds.json'), 'utf8'));
const texts = tokenizerTexts();
const folder = mkdtempSync(join(tmpdir(), 'errata-tokenizers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(kind: string): string {
  if (kind === 'wordpiece') return join(fixtures, 'models', 'tiny-bert-reranker', 'tokenizer.json');
  const file = join(folder, `${kind}.json`);
  writeFileSync(file, gunzipSync(readFileSync(join(fixtures, 'tokenizer', 'kinds', `${kind}.json.gz`))));
  return file;
}

const digest = (parts: readonly string[]) =>
  createHash('sha256').update(parts.join('|')).digest().subarray(0, 3).toString('base64');
const differences = (ours: readonly string[], theirs: string) =>
  ours.flatMap((one, at) => (one === theirs.slice(4 * at, 4 * at + 4) ? [] : [at]));

it('has the texts that the reference had', () => {
  expect(createHash('sha256').update(JSON.stringify(texts)).digest('hex')).toBe(expected.textsSha256);
  expect(texts.length).toBe(expected.texts);
  expect(texts.length).toBeGreaterThanOrEqual(2_000);
  expect(Object.keys(expected.kinds)).toEqual(['wordpiece', 'unigram', 'byte-bpe', 'fallback-bpe']);
});

describe.each(Object.entries(expected.kinds))('HubTokenizer with %s', (name, kind) => {
  it('gives the ids, places and truncation of the Python reference for every text', async () => {
    const tokenizer = await HubTokenizer.open(fileOf(name), expected.maxTokens);
    const ours: string[] = [];
    const ids = new Set<number>();
    let truncated = 0;
    for (const [at, text] of texts.entries()) {
      const encoded = await tokenizer.encode(text, { spans: true });
      if (encoded.truncated) truncated += 1;
      for (const id of encoded.ids) ids.add(id);
      if (at < kind.firstIds.length)
        expect([...encoded.ids.slice(0, 12)].join(' '), `text ${at}`).toBe(kind.firstIds[at]);
      const rows = Array.from(
        encoded.ids,
        (id, token) => `${id}:${encoded.spans?.[2 * token]}:${encoded.spans?.[2 * token + 1]}`,
      );
      ours.push(digest([String(Number(encoded.truncated)), ...rows]));
    }
    expect(differences(ours, kind.texts)).toEqual([]);
    expect(truncated).toBe(kind.truncated);
    expect(ids.size).toBe(kind.distinctIds);
  });

  it('gives the ids and types of the Python reference for every pair, the longer text cut first', async () => {
    const tokenizer = await HubTokenizer.open(fileOf(name), expected.maxTokens);
    const ours: string[] = [];
    const heads = texts.map((text) => [...text].slice(0, expected.pairHead).join(''));
    for (const [at, second] of heads.slice(1).entries()) {
      const [pair] = await tokenizer.encodePairs(heads[at] ?? '', [second]);
      ours.push(digest(Array.from(pair?.ids ?? [], (id, token) => `${id}:${pair?.typeIds[token]}`)));
    }
    expect(ours).toHaveLength(texts.length - 1);
    expect(differences(ours, kind.pairs)).toEqual([]);
  });
});
