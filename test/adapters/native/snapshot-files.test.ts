// Longer than a file should be: every state of one file (sound, damaged, sealed, replaced, written beside changes) is tried on one fixture.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAesGcmCipher } from '../../../src/adapters/crypto/aes-gcm-cipher.js';
import { environmentKeys } from '../../../src/adapters/crypto/key-sources.js';
import {
  createNativeVectorIndex,
  type NativeVectorIndex,
} from '../../../src/adapters/native/native-vector-index.js';
import { SnapshotFiles } from '../../../src/adapters/native/snapshot-files.js';
import { seededRandom } from '../../../src/evaluation/statistics/seeded-random.js';
import type { Cipher } from '../../../src/ports/cipher.js';
import type { IndexedNote, VectorHit } from '../../../src/ports/vector-index.js';
import { DIMENSIONS, note, noteId, unit } from '../../contract/vector-index.contract.js';

const random = seededRandom(20_260_131);
const randomUnit = (): Float32Array =>
  unit(...Array.from({ length: DIMENSIONS }, () => random() + random() - 1));

function notes(count: number): IndexedNote[] {
  return Array.from({ length: count }, (_, i) =>
    note(`note ${i}`, randomUnit(), {
      namespace: i % 5 === 0 ? 'other' : 'acme',
      taskType: ['review', 'scan', 'größe'][i % 3] ?? '',
      version: 1 + (i % 4),
      attributes: { repo: `r${i % 7}`, ...(i % 2 === 0 ? { lang: 'ts' } : {}) },
      vectors: i % 2 === 0 ? { lesson: randomUnit(), situation: randomUnit() } : { lesson: randomUnit() },
    }),
  );
}

describe('SnapshotFiles', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'errata-snapshot-'));
  const file = path.join(folder, 'vectors.snapshot');
  const indexes: NativeVectorIndex[] = [];
  const open = (lateBytes?: number): { index: NativeVectorIndex; files: SnapshotFiles } => {
    // Partitions of two rows and more have a graph.
    const index = createNativeVectorIndex({ dimensions: DIMENSIONS, graphThreshold: 2, lateBytes });
    indexes.push(index);
    return { index, files: new SnapshotFiles({ index, path: file, modelId: 'model' }) };
  };
  const all = notes(120);
  let sound: Buffer;
  let original: NativeVectorIndex;

  beforeAll(async () => {
    const { index, files } = open();
    original = index;
    await index.upsert(all);
    await index.remove(all.slice(0, 9).map(({ namespace, id }) => ({ namespace, id, version: 9 })));
    await index.settle();
    await files.save('store', 42);
    sound = readFileSync(file);
    indexes.pop();
  });
  afterEach(async () => {
    for (const index of indexes.splice(0)) await index.close();
    writeFileSync(file, sound);
  });
  afterAll(async () => {
    await original.close();
    rmSync(folder, { recursive: true });
  });

  async function expectSameAnswers(index: NativeVectorIndex): Promise<void> {
    for (const namespace of ['acme', 'other']) {
      for (const attributes of [undefined, { lang: 'ts' }, { repo: 'r3', lang: 'ts' }, { repo: 'none' }]) {
        for (const taskType of [undefined, 'review', 'größe']) {
          const query = { namespace, taskType, attributes, vector: randomUnit(), k: 10 };
          const { hits } = await index.search(query);
          expect(hits).toEqual((await original.search(query)).hits);
        }
      }
    }
  }

  it('gives back notes, versions, attributes and answers, and goes on from there', async () => {
    const { index, files } = open();
    expect(await files.restore('store', 42)).toMatchObject({
      revision: 42,
      notes: 111,
      sizeBytes: sound.length,
    });
    expect(index.count()).toBe(111);
    expect(index.count('other')).toBe(original.count('other'));
    expect(index.versionOf('acme', noteId('note 11'))).toBe(4);
    await expectSameAnswers(index);
    // A removal is remembered: a late upsert of an older version stays out.
    await index.upsert(all.slice(0, 9));
    expect(index.count()).toBe(111);
    // Keys and tags go on where they were: nothing is answered under another's name.
    await index.upsert([note('new', unit(1, 2, 3), { attributes: { repo: 'fresh' } })]);
    const { hits } = await index.search({
      namespace: 'acme',
      vector: unit(1, 2, 3),
      attributes: { repo: 'fresh' },
      k: 5,
    });
    expect(hits.map(({ id }) => id)).toEqual([noteId('new')]);
    await index.remove([{ namespace: 'acme', id: noteId('new'), version: 9 }]);
    await expectSameAnswers(index);
  });

  it('writes while searches run, and the file replaced under a restored index harms nothing', async () => {
    const { index, files } = open();
    await files.restore('store', 42);
    await index.settle();
    const searches = Array.from({ length: 50 }, () =>
      index.search({ namespace: 'acme', vector: randomUnit(), k: 5 }),
    );
    await files.save('store', 43);
    expect((await Promise.all(searches)).every(({ hits }) => hits.length === 5)).toBe(true);
    await expectSameAnswers(index);
    expect(await open().files.restore('store', 43)).toMatchObject({ revision: 43, notes: 111 });
  });

  /** Begun when it returns, without waiting for a turn. */
  const save = (index: NativeVectorIndex) =>
    index.saveSnapshot({ model: 'model', store: 'store' }, { revision: 43, last: false }, file);

  it('holds one moment while notes change, of which no change waits for the file', async () => {
    const { index, files } = open();
    await files.restore('store', 42);
    await index.settle();
    const order: string[] = [];
    const saved = save(index).then(() => order.push('saved'));
    // Called after the save began: replaced, moved, removed, new in old and new places.
    const [first, second, third] = all.slice(20, 23) as [IndexedNote, IndexedNote, IndexedNote];
    const changed = { ...first, version: 9, attributes: { repo: 'elsewhere' } };
    const moved = { ...second, version: 9, taskType: 'new place' };
    const added = ['one', 'two'].map((name) => note(name, randomUnit(), { namespace: name }));
    await index.upsert([changed, moved, ...added]);
    await index.remove([{ namespace: third.namespace, id: third.id, version: 9 }]);
    order.push('written');
    await saved;
    expect(order).toEqual(['written', 'saved']);
    expect(index.versionOf(moved.namespace, moved.id)).toBe(9);
    expect(index.count()).toBe(112);

    const { index: then, files: again } = open();
    expect(await again.restore('store', 43)).toMatchObject({ revision: 43, notes: 111 });
    for (const { namespace, id, version } of [first, second, third])
      expect(then.versionOf(namespace, id)).toBe(version);
    for (const { namespace, id } of added) expect(then.versionOf(namespace, id)).toBeUndefined();
    await expectSameAnswers(then);
    // And goes on from there with the changes.
    await then.upsert([changed, moved, ...added]);
    const query = { namespace: first.namespace, attributes: { repo: 'elsewhere' }, vector: unit(1), k: 5 };
    expect((await then.search(query)).hits.map(({ id }) => id)).toEqual([first.id]);
    expect((await index.search(query)).hits.map(({ id }) => id)).toEqual([first.id]);
  });

  it('is closed only once it is written', async () => {
    const { index } = open();
    await index.upsert(all);
    await index.settle();
    const saved = save(index);
    await index.close();
    await saved;
    expect(await open().files.restore('store', 43)).toMatchObject({ notes: 120 });
  });

  const restoreOf = (bytes: Buffer) => {
    writeFileSync(file, bytes);
    return open().files.restore('store', 42);
  };
  it.each([
    [
      'WRONG_MODEL',
      () => new SnapshotFiles({ index: open().index, path: file, modelId: 'another' }).restore('store', 42),
    ],
    ['WRONG_STORE', () => open().files.restore('another', 42)],
    ['AHEAD_OF_STORE', () => open().files.restore('store', 41)],
    [
      'ABSENT',
      () =>
        new SnapshotFiles({ index: open().index, path: `${file}-none`, modelId: 'model' }).restore(
          'store',
          42,
        ),
    ],
    ['TRUNCATED', () => restoreOf(sound.subarray(0, -1))],
    ['TRUNCATED', () => restoreOf(Buffer.alloc(0))],
    ['NOT_A_SNAPSHOT', () => restoreOf(Buffer.alloc(9_000, 'x'))],
    [
      'WRONG_SHAPE',
      () => {
        const index = createNativeVectorIndex({ dimensions: DIMENSIONS + 8 });
        indexes.push(index);
        return new SnapshotFiles({ index, path: file, modelId: 'model' }).restore('store', 42);
      },
    ],
  ])('refuses with %s and leaves the index empty and usable', async (refusal, restore) => {
    expect(await restore()).toMatchObject({ refusal });
    const index = indexes.at(-1);
    expect(index?.count()).toBe(0);
    expect(index?.stats().partitions).toBe(0);
    if (index?.dimensions !== DIMENSIONS) return;
    await index.upsert(all);
    expect(index.count()).toBe(120);
  });

  it('refuses a file with a byte changed anywhere', async () => {
    const { index, files } = open();
    for (let round = 0; round < 400; round += 1) {
      const changed = Buffer.from(sound);
      // Every eighth byte of the header's fields, then anywhere.
      const at = round < 100 ? round * 8 : Math.floor(random() * changed.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      writeFileSync(file, changed);
      const outcome = await files.restore('store', 42);
      expect(outcome, `byte ${at}`).toHaveProperty('refusal');
      expect(index.count()).toBe(0);
    }
  });

  it('answers rightly or not at all where a byte of what is verified later is changed', async () => {
    let late = 0;
    for (let round = 0; round < 200; round += 1) {
      const { index, files } = open(1);
      const changed = Buffer.from(sound);
      const at = 4096 + Math.floor(random() * (changed.length - 4096));
      changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      writeFileSync(file, changed);
      const outcome = await files.restore('store', 42);
      if ('refusal' in outcome) continue;
      late += 1;
      const query = { namespace: 'acme', vector: randomUnit(), k: 10, exact: true };
      const answer = await index.search(query).catch((error: unknown) => error);
      if (answer instanceof Error) expect(answer, `byte ${at}`).toMatchObject({ code: 'INDEX_UNAVAILABLE' });
      else expect(answer, `byte ${at}`).toMatchObject({ hits: (await original.search(query)).hits });
      expect(await outcome.verified, `byte ${at}`).toMatchObject({ refusal: 'CORRUPT' });
      // As the app does: empty, it takes everything again.
      await index.clear();
      await index.upsert(all);
      expect(index.count()).toBe(120);
      await index.close();
    }
    expect(late).toBeGreaterThan(20);
  });

  it('answers at once and is verified later, where the file is sound', async () => {
    const { index, files } = open(1);
    const outcome = await files.restore('store', 42);
    await expectSameAnswers(index);
    expect(outcome).toHaveProperty('verified');
    if ('verified' in outcome) expect(await outcome.verified).toBeUndefined();
    await index.settle();
    await expectSameAnswers(index);
  });

  it('is readable by its owner only', async () => {
    const { index, files } = open();
    await index.upsert(all);
    await files.save('store', 1, true);
    const { mode } = await import('node:fs').then(({ statSync }) => statSync(file));
    if (process.platform !== 'win32') expect(mode & 0o077).toBe(0);
  });

  it('leaves the old file where a new one cannot be written, and says so', async () => {
    const { index } = open();
    const files = new SnapshotFiles({ index, path: path.join(folder, 'no folder', 'x'), modelId: 'model' });
    await expect(files.save('store', 1)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(readFileSync(file).equals(sound)).toBe(true);
  });

  it('removes what a killed writer left, but not what another is writing', async () => {
    const stale = `${file}.123-1.new`;
    const fresh = `${file}.124-1.new`;
    writeFileSync(stale, 'x');
    writeFileSync(fresh, 'x');
    utimesSync(stale, 1, 1);
    await open().files.restore('store', 42);
    expect(() => readFileSync(stale)).toThrow('ENOENT');
    expect(readFileSync(fresh, 'utf8')).toBe('x');
    rmSync(fresh);
  });
});

describe('sealed SnapshotFiles', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'errata-sealed-'));
  const file = path.join(folder, 'vectors.sealed');
  const keys = { k1: randomBytes(32), k2: randomBytes(32) };
  const cipherOf = (...ids: (keyof typeof keys)[]): Cipher =>
    createAesGcmCipher(
      environmentKeys(ids.map((id) => `${id} ${keys[id].toString('base64')}`).join(','), 'ERRATA_KEYS'),
    );
  const indexes: NativeVectorIndex[] = [];
  const open = (cipher: Cipher): { index: NativeVectorIndex; files: SnapshotFiles } => {
    const index = createNativeVectorIndex({ dimensions: DIMENSIONS, graphThreshold: 2 });
    indexes.push(index);
    return { index, files: new SnapshotFiles({ index, path: file, modelId: 'model', cipher }) };
  };
  // Of three pieces, so that some can be exchanged.
  const all = notes(9_000);
  const query = { namespace: 'acme', vector: randomUnit(), k: 10, exact: true };
  let sound: Buffer;
  let expected: VectorHit[];

  beforeAll(async () => {
    const { index, files } = open(cipherOf('k1'));
    await index.upsert(all);
    const { sizeBytes } = await files.save('store', 42, true);
    sound = readFileSync(file);
    expect(sizeBytes).toBe(sound.length);
    expected = [...(await index.search(query)).hits];
  });
  afterEach(async () => {
    for (const index of indexes.splice(0)) await index.close();
    writeFileSync(file, sound);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('gives back what was saved, under a key that has become the second one too, and takes writes', async () => {
    for (const cipher of [cipherOf('k1'), cipherOf('k2', 'k1')]) {
      const { index, files } = open(cipher);
      const outcome = await files.restore('store', 42);
      expect(outcome).toMatchObject({ revision: 42, notes: 9_000, sizeBytes: sound.length });
      if ('verified' in outcome) expect(await outcome.verified).toBeUndefined();
      expect((await index.search(query)).hits).toEqual(expected);
      await index.upsert([note('new', unit(1, 2, 3))]);
      expect(index.count()).toBe(9_001);
    }
  });

  it('holds no vector and no name in plain, and only its owner may read it', async () => {
    const { index } = open(cipherOf('k1'));
    await index.upsert(all.slice(0, 50));
    const [first] = all[0] === undefined ? [] : Object.values(all[0].vectors);
    const bytes = Buffer.from(first?.buffer ?? new ArrayBuffer(0), first?.byteOffset, first?.byteLength);
    expect(bytes.length).toBe(DIMENSIONS * 4);
    const plain = Buffer.from(
      await index.snapshotBytes({ model: 'model', store: 'store' }, { revision: 1, last: true }),
    );
    for (const text of [bytes, Buffer.from('acme'), Buffer.from('ERRATAIX')]) {
      expect(plain.includes(text)).toBe(true);
      expect(sound.includes(text)).toBe(false);
    }
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o077).toBe(0);
    expect(readdirSync(folder)).toEqual(['vectors.sealed']);
  });

  const head = 40 + 2;
  const piece = (1 << 20) + 28;
  const exchanged = (): Buffer => {
    const [a, b] = [sound.subarray(head, head + piece), sound.subarray(head + piece, head + 2 * piece)];
    return Buffer.concat([sound.subarray(0, head), b, a, sound.subarray(head + 2 * piece)]);
  };
  it.each([
    ['KEY_MISSING', () => sound, cipherOf('k2')],
    ['TRUNCATED', () => sound.subarray(0, -1), cipherOf('k1')],
    ['TRUNCATED', () => sound.subarray(0, 20), cipherOf('k1')],
    ['TRUNCATED', () => Buffer.alloc(0), cipherOf('k1')],
    ['CORRUPT', () => Buffer.concat([sound, Buffer.alloc(1)]), cipherOf('k1')],
    ['CORRUPT', exchanged, cipherOf('k1')],
    ['NOT_A_SNAPSHOT', () => Buffer.alloc(9_000, 'x'), cipherOf('k1')],
  ])('is refused with %s', async (refusal, bytes, cipher) => {
    writeFileSync(file, bytes());
    const { index, files } = open(cipher);
    expect(await files.restore('store', 42)).toMatchObject({ refusal, detail: expect.any(String) });
    expect(index.count()).toBe(0);
    await index.upsert(all.slice(0, 5));
    expect(index.count()).toBe(5);
  });

  it('is refused with a byte changed anywhere, under another model and store, and where it is absent', async () => {
    const { index, files } = open(cipherOf('k1'));
    for (let round = 0; round < 120; round += 1) {
      const changed = Buffer.from(sound);
      // The head, then anywhere.
      const at = round < head ? round : Math.floor(random() * changed.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      writeFileSync(file, changed);
      expect(await files.restore('store', 42), `byte ${at}`).toHaveProperty('refusal');
      expect(index.count()).toBe(0);
    }
    writeFileSync(file, sound);
    expect(await files.restore('another', 42)).toMatchObject({ refusal: 'WRONG_STORE' });
    expect(await files.restore('store', 41)).toMatchObject({ refusal: 'AHEAD_OF_STORE' });
    rmSync(file);
    expect(await files.restore('store', 42)).toMatchObject({ refusal: 'ABSENT' });
  });

  it('leaves the old file, and nothing beside it, where a new one cannot be written', async () => {
    const { index, files } = open(cipherOf('k1'));
    await files.restore('store', 42);
    const failing: Cipher = {
      ...cipherOf('k1'),
      seal() {
        throw new Error('no entropy');
      },
    };
    const broken = new SnapshotFiles({ index, path: file, modelId: 'model', cipher: failing });
    await expect(broken.save('store', 43, true)).rejects.toThrow('no entropy');
    expect(readFileSync(file).equals(sound)).toBe(true);
    expect(readdirSync(folder)).toEqual(['vectors.sealed']);
  });

  it('is sealed under one key where the key changes while it is written', async () => {
    const { index, files } = open(cipherOf('k1'));
    await files.restore('store', 42);
    const [older, newer] = [cipherOf('k1'), cipherOf('k2')];
    let asked = 0;
    const current = (): Cipher => (asked < 3 ? older : newer);
    const changing: Cipher = {
      keyId: () => current().keyId(),
      seal: (plain, context) => {
        asked += 1;
        return current().seal(plain, context);
      },
      open: (keyId, sealed, context) => current().open(keyId, sealed, context),
    };
    await new SnapshotFiles({ index, path: file, modelId: 'model', cipher: changing }).save(
      'store',
      44,
      true,
    );
    expect(await open(cipherOf('k2')).files.restore('store', 44)).toMatchObject({
      revision: 44,
      notes: 9_000,
    });
  });
});
