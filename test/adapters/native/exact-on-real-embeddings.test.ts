import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadAddon, type NativePartition } from '../../../src/adapters/native/load-addon.js';
import { openLocalEmbedder } from '../../../src/app/open-local-embedder.js';
import { lessonText, situationText } from '../../../src/domain/note.js';
import { modelDirectory } from '../../../src/models/installed-models.js';
import type { EmbeddingEntry } from '../../../src/models/manifest-schema.js';
import { miniLm, modelForTests } from '../../models/installed-model.js';
import { pinnedEmbedding } from '../../models/tiny-model.js';

// The first pass over codes of one byte an element, re-scored from float32, against the scan of all float32 rows and against
// a loop in double precision: on the sample's notes and queries, as real models embed them.

interface SampleNote {
  readonly taskType: string;
  readonly wrongAnswer: string;
  readonly correction: string;
  readonly lesson: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const lines = <T>(file: string): T[] =>
  readFileSync(new URL(`../../../sample/${file}`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
const notes = lines<SampleNote>('notes.jsonl');
const queries = lines<{ readonly query: string }>('golden.jsonl').map(({ query }) => query);

/** Task types and attributes as the addon's tags. */
const tagNames = [
  ...new Set(
    notes.flatMap(({ taskType, attributes }) => [taskType, ...Object.entries(attributes).map(String)]),
  ),
];
const tagsOf = ({ taskType, attributes }: SampleNote): number[] =>
  [taskType, ...Object.entries(attributes).map(String)].map((name) => tagNames.indexOf(name) + 1);
const AND = 0xffff_ffff;
const OR = 0xffff_fffe;
const NOT = 0xffff_fffd;
const one = tagNames.indexOf('dependency-scan') + 1;
const other = tagNames.indexOf('code-review') + 1;
/** Of a single note. */
const rare =
  tagNames.findIndex((_, i) => notes.filter((note) => tagsOf(note).includes(i + 1)).length === 1) + 1;
const has = (tag: number) => (tags: readonly number[]) => tags.includes(tag);
/** Postfix, as the addon takes it, and the notes that it lets pass. */
const FILTERS = (
  [
    [[], () => true],
    [[one], has(one)],
    [[rare], has(rare)],
    [[one, other, OR], (tags) => has(one)(tags) || has(other)(tags)],
    [[one, NOT], (tags) => !has(one)(tags)],
    [[other, rare, NOT, AND], (tags) => has(other)(tags) && !has(rare)(tags)],
  ] satisfies [number[], (tags: readonly number[]) => boolean][]
).map(([postfix, allows]) => ({
  postfix,
  keys: [...notes.keys()].filter((key) => allows(tagsOf(notes[key]!))),
}));

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let d = 0; d < a.length; d += 1) sum += a[d]! * b[d]!;
  return sum;
}

const model = await modelForTests();
const models: readonly {
  readonly entry: EmbeddingEntry;
  readonly directory: string;
  readonly missing?: string;
}[] = [
  { entry: pinnedEmbedding('starter'), directory: modelDirectory('/nowhere', pinnedEmbedding('starter')) },
  { entry: miniLm, directory: model.directory, ...(model.missing ? { missing: model.missing } : {}) },
];

describe.each(models)('scans of codes on embeddings of $entry.name', ({ entry, directory, missing }) => {
  const addon = loadAddon();
  const { dimensions } = entry;
  const partitions: NativePartition[] = [];
  let rows: Float32Array[] = [];
  let asked: Float32Array[] = [];

  beforeAll(async () => {
    if (missing !== undefined) return;
    const embedder = await openLocalEmbedder({ modelDir: directory, manifestEntry: entry });
    try {
      const texts = notes.flatMap((note) => [lessonText(note), situationText(note)]);
      const embed = async (list: readonly string[], kind: 'query' | 'passage') =>
        (await embedder.embed(list, { kind })).map(({ vector }) => vector);
      rows = await embed(texts, 'passage');
      asked = [...(await embed(queries, 'query')), ...rows.filter((_, i) => i % 7 === 0)];
    } finally {
      await embedder.close();
    }
    const tags = notes.map(tagsOf);
    let end = 0;
    const batch = {
      keys: Float64Array.from(notes, (_, i) => i),
      orders: Uint32Array.from({ length: 4 * notes.length }, (_, i) => (i % 4 === 3 ? i >> 2 : 0)),
      rowBegin: Uint32Array.from({ length: notes.length + 1 }, (_, i) => 2 * i),
      kinds: Uint8Array.from(rows, (_, i) => i % 2),
      vectors: Float32Array.from(rows.flatMap((row) => [...row])),
      tagBegin: Uint32Array.from([0, ...tags.map((list) => (end += list.length))]),
      tags: Uint32Array.from(tags.flat()),
    };
    const options = { dimensions, connectivity: 16, efConstruction: 128, efSearch: 64, graphThreshold: 1e6 };
    for (const codes of [true, false]) {
      const partition = new addon.Partition({ ...options, codes });
      partitions.push(partition);
      await partition.put(batch);
    }
  }, 120_000);
  afterAll(() => {
    for (const partition of partitions) partition.close();
  });

  /** Each note's cosine in double precision. */
  const cosines = (query: Float32Array): number[] =>
    notes.map((_, key) => Math.max(dot(query, rows[2 * key]!), dot(query, rows[2 * key + 1]!)));

  it.for([1, 3, 10])('give the same as scans of float32, k = %i, filtered or not', (k, context) => {
    if (missing !== undefined) context.skip(missing);
    const scan = (partition: NativePartition, query: Float32Array, filter: Uint32Array | undefined) => {
      const keys = new Float64Array(k);
      const scores = new Float32Array(k);
      const kinds = new Uint8Array(k);
      const count = partition.searchInto(query, k, undefined, filter, keys, scores, kinds, 'scan');
      return { count, keys, scores, kinds };
    };
    const [coded, plain] = partitions as [NativePartition, NativePartition];
    const wrong: string[] = [];
    for (const [i, query] of asked.entries()) {
      const exact = i % 5 === 0 ? cosines(query) : undefined;
      for (const [place, { postfix, keys: allowed }] of FILTERS.entries()) {
        const filter = postfix.length === 0 ? undefined : Uint32Array.from(postfix);
        const byCodes = scan(coded, query, filter);
        const byFloats = scan(plain, query, filter);
        if (!isDeepStrictEqual(byCodes, byFloats)) wrong.push(`query ${i}, filter ${place}: unequal`);
        if (exact === undefined) continue;
        const right = allowed.map((key) => exact[key]!).sort((a, b) => b - a);
        const close = byCodes.scores.every((score, at) => !(Math.abs(score - (right[at] ?? 0)) > 1e-6));
        if (byCodes.count !== Math.min(k, allowed.length) || !close)
          wrong.push(`query ${i}, filter ${place}: not the loop's`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('compare codes first, or the above would prove nothing', async (context) => {
    if (missing !== undefined) context.skip(missing);
    let compared = 0;
    let rescored = 0;
    for (const query of asked.slice(0, 100)) {
      const answer = await partitions[0]!.search(query, 3, undefined, undefined, undefined, 'scan');
      compared += answer.compared;
      rescored += answer.rescored;
    }
    expect(rescored).toBeLessThan(compared / 4);
  });
});
