import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNativeVectorIndex } from '../../src/adapters/native/native-vector-index.js';
import { openStore } from '../../src/app/installation.js';
import { openSnapshots } from '../../src/app/open-snapshots.js';
import { parseConfig } from '../../src/config/parse-config.js';
import { keyRotationHandler } from '../../src/jobs/key-rotation.js';
import { newKey } from '../contract/store/encryption.contract.js';
import { openWordApp } from '../doubles/word-app.js';
import { ADMIN, correction } from '../doubles/write-path.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'errata-encrypted-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settings = (env: Record<string, string>) =>
  parseConfig({ env, flags: { data: join(folder, 'data') }, cwd: folder });
const stored = (): Buffer =>
  Buffer.concat(readdirSync(join(folder, 'data')).map((name) => readFileSync(join(folder, 'data', name))));

describe('an installation with a key', () => {
  const file = (): string => join(folder, 'keys');
  const [k1, k2] = [newKey('k1'), newKey('k2')];
  const write = (...lines: string[]): void => writeFileSync(file(), lines.join('\n'), { mode: 0o600 });

  it('serves what is sealed, changes keys under load, and then needs the new one only', {
    timeout: 60_000,
  }, async () => {
    write(k1);
    const config = settings({ ERRATA_KEY_FILE: 'keys' });
    expect(config.keyFile).toBe(file());
    const store = await openStore(config);
    const word = await openWordApp({ store });
    const { commands, retrieval, jobs } = word.app.useCases;
    const inputs = Array.from({ length: 450 }, (_, i) =>
      correction({ lesson: `Quagga number ${i} is striped`, wrongAnswer: `quagga ${i} is plain` }),
    );
    const results = await commands.submitMany(ADMIN, inputs);
    expect(results.map(({ outcome }) => outcome)).toEqual(inputs.map(() => 'CREATED'));
    expect(stored().includes('uagga')).toBe(false);

    write(k2, k1);
    let done = false;
    let answers = 0;
    const load = async (): Promise<void> => {
      for (let i = 0; !done; i += 1) {
        const query = `Quagga number ${i % 450} is striped`;
        const answer = await retrieval.retrieve(ADMIN, { namespace: 'team', query });
        expect(answer.candidates.some(({ note }) => note.lesson === query)).toBe(true);
        await commands.submit(ADMIN, correction({ lesson: `Okapi ${i} hides` }));
        answers += 1;
      }
    };
    const loading = load();
    const job = await jobs.start(ADMIN, 'KEY_ROTATION', undefined, {});
    const progress: object[] = [];
    const rotate = keyRotationHandler({ store, settleMs: 1_100 });
    const message = await rotate({
      job,
      signal: new AbortController().signal,
      checkpoint: async (step) => void progress.push(step),
    });
    done = true;
    await loading;
    expect(answers).toBeGreaterThan(0);
    expect(message).toMatch(/^\d+ notes sealed with key k2; no longer needed: k1$/u);
    expect(progress[0]).toMatchObject({ cursor: expect.any(String) });
    await word.close();
    await store.close();

    write(k2);
    const again = await openStore(settings({ ERRATA_KEYS: k2 }));
    expect(again.description).toContain('encrypted');
    expect(await again.notes.count('all', { text: 'quagga number 449' })).toBe(1);
    expect((await again.notes.list('all', {}, 'CREATED_ASC', { limit: 200 })).items).toHaveLength(200);
    expect(again.notes.corruptRecords()).toBe(0);
    await again.close();
    expect(stored().includes('uagga')).toBe(false);
  });

  it('seals the snapshot of the vector index, and removes a plain one from before', async () => {
    const vectorIndex = createNativeVectorIndex({ dimensions: 8 });
    const plain = settings({});
    const file = join(plain.dataDir, 'vectors.snapshot');
    writeFileSync(file, 'vectors');
    expect(openSnapshots(plain, vectorIndex, 'm')).toBeDefined();
    expect(existsSync(file)).toBe(true);
    const sealed = openSnapshots(settings({ ERRATA_KEYS: k2 }), vectorIndex, 'm');
    expect(existsSync(file)).toBe(false);
    await sealed?.save('store', 1, true);
    expect(existsSync(file)).toBe(false);
    expect(readFileSync(join(plain.dataDir, 'vectors.sealed')).subarray(0, 8).toString()).toBe('ERRSEAL1');
    expect(await sealed?.restore('store', 1)).toMatchObject({ revision: 1, notes: 0 });
    await vectorIndex.close();
  });

  it('is refused without it, with another one, and with keys from two places', async () => {
    await expect(openStore(settings({}))).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_MISSING' });
    await expect(openStore(settings({ ERRATA_KEYS: newKey('k2') }))).rejects.toMatchObject({
      code: 'ENCRYPTION_KEY_WRONG',
    });
    await expect(openStore(settings({ ERRATA_KEYS: k2, ERRATA_KEY_FILE: 'keys' }))).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
    });
  });
});
