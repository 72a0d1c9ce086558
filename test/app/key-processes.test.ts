import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAesGcmCipher } from '../../src/adapters/crypto/aes-gcm-cipher.js';
import { environmentKeys } from '../../src/adapters/crypto/key-sources.js';
import type { Job } from '../../src/domain/job.js';
import { newKey } from '../contract/store/encryption.contract.js';
import {
  killLeftOver,
  type ProcessEnvironment,
  type ServerProcess,
  startCommand,
  startServerProcess,
} from './dist-process.js';
import { killOrders } from './kill-orders.js';
import { BACKENDS, type OpenBackend } from './store-backends.js';
import { expectWhole } from './whole-store.js';

const NOTES = 240;
const SUBMIT =
  'mutation ($inputs: [CorrectionInput!]!) { submitCorrections(inputs: $inputs) { outcome note { id } } }';
const RETRIEVE =
  'query ($query: String!) { retrieve(input: { query: $query, threshold: 0 }) { candidates { note { lesson } } } }';
const lessonOf = (name: string): string => `What quagga_${name}() returns belongs to the caller.`;
const correction = (name: string) => ({
  taskType: 'code-review',
  wrongAnswer: `Said that quagga_${name}() leaks.`,
  correction: `quagga_${name}() is freed by its caller.`,
  lesson: lessonOf(name),
});

for (const { title, skip, open } of BACKENDS) {
  describe.skipIf(skip !== undefined)(`keys of two API processes over ${title}`, () => {
    let folder: string;
    let backend: OpenBackend;
    let servers: ServerProcess[] = [];
    const [k1, k2] = [newKey('k1'), newKey('k2')];
    const keyFile = () => join(folder, 'keys');
    const write = (...lines: string[]): void => writeFileSync(keyFile(), lines.join('\n'), { mode: 0o600 });
    const env = (more: ProcessEnvironment = {}): ProcessEnvironment => ({
      ...backend.env,
      ERRATA_EMBEDDER: 'starter',
      ERRATA_JOB_LEASE_MS: '1000',
      ERRATA_SWEEP_MINUTES: '0',
      ERRATA_KEY_FILE: keyFile(),
      ...more,
    });
    const dataDir = () => join(folder, 'data');

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'errata-key-processes-'));
      mkdirSync(dataDir());
      backend = await open(dataDir());
      write(k1);
      const { env: orders } = killOrders(folder);
      servers = [
        await startServerProcess(dataDir(), env(orders)),
        await startServerProcess(dataDir(), env(orders)),
      ];
      const inputs = Array.from({ length: NOTES }, (_, index) => correction(String(index)));
      const { data } = await servers[0]!.query(SUBMIT, { inputs });
      expect(data.submitCorrections.map(({ outcome }: { outcome: string }) => outcome)).toEqual(
        inputs.map(() => 'CREATED'),
      );
    }, 600_000);
    afterAll(async () => {
      await killLeftOver();
      await backend?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('change under load, one process killed -9 in the middle, without an error elsewhere', {
      timeout: 900_000,
    }, async () => {
      const orders = killOrders(folder);
      const dead = new Set<ServerProcess>();
      for (const server of servers) void server.gone.then(() => dead.add(server));
      let running = true;
      const failures: unknown[] = [];
      const written: string[] = [];
      let answers = 0;
      const load = async (server: ServerProcess, mark: string): Promise<void> => {
        for (let i = 0; running && !dead.has(server); i += 1) {
          const name = String((i * 7) % NOTES);
          const answer = await server.query(RETRIEVE, { query: lessonOf(name) }).catch(() => undefined);
          // Broken off by the kill, which this process cannot help.
          if (answer === undefined && (dead.has(server) || !(await isAlive(server)))) return;
          const lessons = answer?.data?.retrieve.candidates.map(
            ({ note }: { note: { lesson: string } }) => note.lesson,
          );
          if (answer?.errors !== undefined || !lessons?.includes(lessonOf(name)))
            failures.push([mark, i, answer]);
          answers += 1;
          if (i % 4 !== 0) continue;
          const fresh = `${mark}_${i}`;
          const stored = await server.query(SUBMIT, { inputs: [correction(fresh)] }).catch(() => undefined);
          if (stored === undefined) continue;
          if (stored.errors !== undefined || stored.data.submitCorrections[0].outcome !== 'CREATED')
            failures.push([mark, fresh, stored]);
          else written.push(fresh);
        }
      };
      const loads = servers.map((server, index) => load(server, `while${index}`));
      // As an editor saves: cut off for a moment, then the new key in front of the old one.
      write(k2.slice(0, 17));
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      write(k2, k1);
      const cipher = createAesGcmCipher(environmentKeys(`${k2}, ${k1}`, 'the test'));
      const store = await backend.connect(cipher);
      orders.give({ job: 'KEY_ROTATION', write: 60 });
      const id = crypto.randomUUID();
      const job: Job = {
        ...{ id, kind: 'KEY_ROTATION', options: {}, state: 'QUEUED', done: 0, fence: 0 },
        ...{ createdAt: new Date().toISOString(), cancelRequested: false },
      };
      await store.jobs.put(job);
      await expect
        .poll(async () => (await store.jobs.get(id))?.finishedAt, { timeout: 600_000, interval: 100 })
        .toBeDefined();
      orders.withdraw();
      running = false;
      await Promise.all(loads);
      expect(failures).toEqual([]);
      expect(dead.size).toBe(1);
      expect(answers).toBeGreaterThan(10);
      expect(written.length).toBeGreaterThan(2);
      const ended = await store.jobs.get(id);
      expect(ended).toMatchObject({ state: 'SUCCEEDED', fence: 2 });
      expect(ended?.message).toMatch(/^\d+ notes sealed with key k2; no longer needed: k1$/u);
      servers = servers.filter((server) => !dead.has(server));
      await expectWhole(store, servers);
      await store.close();

      // From now on with the new key only, every note as it was.
      write(k2);
      servers.push(await startServerProcess(dataDir(), env()));
      for (const server of servers) {
        for (const name of ['0', '101', String(NOTES - 1), ...written.slice(0, 3), ...written.slice(-3)]) {
          const { data } = await server.query(RETRIEVE, { query: lessonOf(name) });
          const lessons = data.retrieve.candidates.map(
            ({ note }: { note: { lesson: string } }) => note.lesson,
          );
          expect(lessons).toContain(lessonOf(name));
        }
      }
      const left = await backend.connect(createAesGcmCipher(environmentKeys(k2, 'the test')));
      expect(await left.notes.count('all', { text: 'quagga' })).toBeGreaterThanOrEqual(
        NOTES + written.length,
      );
      expect(left.notes.corruptRecords()).toBe(0);
      await left.close();
    });

    it('are refused with a code, and never printed, where they are wrong, missing or not to be had', {
      timeout: 900_000,
    }, async () => {
      const other = newKey('k2');
      const place = join(folder, 'other-keys');
      const script = join(folder, 'command.mjs');
      const put = (text: string, mode = 0o600): ProcessEnvironment => {
        writeFileSync(place, text);
        chmodSync(place, mode);
        return { ERRATA_KEY_FILE: place };
      };
      const command = (text: string): ProcessEnvironment => {
        writeFileSync(script, text);
        return { ERRATA_KEY_COMMAND: `${process.execPath} ${script}` };
      };
      const cases: readonly (readonly [what: string, () => ProcessEnvironment, code: string])[] = [
        ['no key', () => ({}), 'ENCRYPTION_KEY_MISSING'],
        ['the key of before', () => put(k1), 'ENCRYPTION_KEY_MISSING'],
        ['another key of the id', () => put(other), 'ENCRYPTION_KEY_WRONG'],
        ['half a file', () => put(k2.slice(0, 25)), 'INVALID_CONFIG'],
        ['an empty file', () => put(''), 'INVALID_CONFIG'],
        ['no file', () => ({ ERRATA_KEY_FILE: join(folder, 'absent') }), 'INVALID_CONFIG'],
        ['a folder', () => ({ ERRATA_KEY_FILE: folder }), 'INVALID_CONFIG'],
        ['a file that others may read', () => put(k2, 0o644), 'INVALID_CONFIG'],
        [
          'a command that fails',
          () => command(`console.log('${other}'); process.exit(1);`),
          'INVALID_CONFIG',
        ],
        ['a command with a wrong key', () => command(`console.log('${other}');`), 'ENCRYPTION_KEY_WRONG'],
      ];
      const told: string[] = [];
      for (const [what, keys, code] of cases) {
        const { ERRATA_KEY_FILE: _mine, ...without } = env();
        const ended = await startCommand(dataDir(), ['notes', 'list', '--json'], { ...without, ...keys() })
          .ended;
        expect(ended.code, what).toBeGreaterThan(0);
        expect(`${ended.stdout}${ended.stderr}`, what).toContain(code);
        told.push(ended.stdout, ended.stderr);
      }
      for (const key of [k1, k2, other])
        expect(told.join('\n')).not.toContain(key.split(' ')[1]!.slice(0, 12));
    });

    it('come from a key command that is run once a start', { timeout: 300_000 }, async () => {
      const script = join(folder, 'counted.mjs');
      const counter = join(folder, 'runs');
      writeFileSync(
        script,
        `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(counter)}, 'x'); console.log('${k2}');`,
      );
      const { ERRATA_KEY_FILE: _mine, ...without } = env();
      const server = await startServerProcess(dataDir(), {
        ...without,
        ERRATA_KEY_COMMAND: `${process.execPath} ${script}`,
      });
      const { data } = await server.query(RETRIEVE, { query: lessonOf('5') });
      expect(data.retrieve.candidates.length).toBeGreaterThan(0);
      await server.stop();
      expect(readFileSync(counter, 'utf8')).toBe('x');
    });
  });
}

async function isAlive(server: ServerProcess): Promise<boolean> {
  try {
    process.kill(server.pid, 0);
    return (await fetch(`${server.url}/healthz`)).status > 0;
  } catch {
    return false;
  }
}
