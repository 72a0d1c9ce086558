import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import { firstModelName } from '../../src/app/first-model.js';
import { openEngines } from '../../src/app/installation.js';
import { parseConfig } from '../../src/config/parse-config.js';
import { ErrataError } from '../../src/domain/errors.js';
import { readServedModel } from '../../src/jobs/model-switch.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { Store } from '../../src/ports/note-store.js';
import { modelForTests } from '../models/installed-model.js';
import { isBuilt, killLeftOver, startCommand, startServerProcess } from './dist-process.js';
import { ADMIN, openRealApp } from './real-app.js';

const miniLm = await modelForTests();
if (!isBuilt) console.warn('Starts of the built server are skipped: dist is not built (npm test builds it)');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'errata-starter-app-'));
});
afterEach(async () => {
  await killLeftOver();
  rmSync(folder, { recursive: true, force: true });
});

const SUBMIT = `mutation ($c: CorrectionInput!) { submitCorrection(input: $c) { outcome note { id } } }`;
const LESSON = 'Server-side HTTP/2 floods in netty do not apply to programs that never listen on a port.';
const CORRECTION = {
  taskType: 'dependency-scan',
  wrongAnswer: 'Reported an HTTP/2 flood in netty as exploitable in the viewer.',
  correction: 'The viewer is a desktop program and opens no listening socket.',
  lesson: LESSON,
};
const RETRIEVE = `{ retrieve(input: { query: "netty HTTP/2 flood in a desktop program", taskType: "dependency-scan" }) {
  embeddingModel scoreScale degraded notes { note { lesson } } } stats { embeddingModel embeddingNotice } }`;

describe.skipIf(!isBuilt)('a first start without a network (skipped where dist is not built)', () => {
  /** Nothing answers on port 1; no Maven on the path; no model. */
  const offline = () => ({
    ERRATA_HUB: 'http://127.0.0.1:1',
    ERRATA_MODELS: join(folder, 'models'),
    PATH: join(folder, 'nothing'),
    HOME: folder,
  });

  it('answers with the starter embedder and says so', async () => {
    const server = await startServerProcess(folder, offline());
    const { data: submitted } = await server.query(SUBMIT, { c: CORRECTION });
    expect(submitted.submitCorrection.outcome).toBe('CREATED');
    const { data } = await server.query(RETRIEVE);
    expect(data.retrieve.notes).toEqual([{ note: { lesson: LESSON } }]);
    expect(data.retrieve.embeddingModel).toMatch(/^starter@[0-9a-f]{12}$/);
    // Scores, threshold and late interaction of its own.
    expect(data.retrieve).toMatchObject({ scoreScale: 'probability', degraded: [] });
    expect(data.stats.embeddingNotice).toMatch(/starter embedder.*errata models switch all-MiniLM-L6-v2/);
    await server.kill();
  });

  it.skipIf(miniLm.missing !== undefined)(
    'goes on with it where the default model can be had later, until it is switched',
    async () => {
      const first = await startServerProcess(folder, offline());
      await first.query(SUBMIT, { c: CORRECTION });
      await first.kill();

      const online = { ERRATA_MODELS: dirname(miniLm.directory) };
      const second = await startServerProcess(folder, online);
      const { data } = await second.query(RETRIEVE);
      expect(data.retrieve.embeddingModel).toMatch(/^starter@/);
      expect(data.retrieve.notes).toEqual([{ note: { lesson: LESSON } }]);
      await second.kill();

      const switched = await startCommand(folder, ['models', 'switch', 'all-MiniLM-L6-v2', '--force'], online)
        .ended;
      expect(switched.stderr + switched.stdout).toContain('all-MiniLM-L6-v2');
      expect(switched.code).toBe(0);
      const third = await startServerProcess(folder, online);
      const after = await third.query(RETRIEVE);
      expect(after.data.retrieve.embeddingModel).toMatch(/^all-MiniLM-L6-v2@/);
      expect(after.data.retrieve.notes).toEqual([{ note: { lesson: LESSON } }]);
      expect(after.data.stats.embeddingNotice).toBeNull();
      await third.kill();
    },
    60_000,
  );
});

describe('the model that a server begins with', () => {
  const unavailable = async (): Promise<never> => {
    throw new ErrataError('MODEL_UNAVAILABLE', 'Expected a model, received none');
  };
  const never = async (): Promise<never> => {
    throw new Error('nothing may be pulled here');
  };
  const configOf = (flags: Readonly<Record<string, string>> = {}) =>
    parseConfig({ env: {}, flags: { data: folder, 'models-dir': join(folder, 'models'), ...flags } });
  let store: Store;
  beforeEach(async () => {
    store = await createSqliteStore({ path: join(folder, 'errata.sqlite') });
  });
  afterEach(() => store.close());
  const first = (pull: (name: string) => Promise<unknown>, config = configOf()) =>
    firstModelName({ store, config, logger: silentLogger, pull });

  it('is the starter where the default cannot be pulled, and that is written down', async () => {
    expect(await first(unavailable)).toBe('starter');
    const engines = await openEngines(configOf({ embedder: 'starter' }));
    expect(await readServedModel(store)).toMatchObject({
      name: 'starter',
      modelId: engines.embedder.model.id,
    });
    await engines.close();
    // The second start asks no source.
    expect(await first(never)).toBe('starter');
  });

  it('is the default where it can be pulled', async () => {
    const pulled: string[] = [];
    expect(await first(async (name) => pulled.push(name))).toBe('all-MiniLM-L6-v2');
    expect(pulled).toEqual(['all-MiniLM-L6-v2']);
    expect(await readServedModel(store)).toBeUndefined();
  });

  it('passes on what is no missing model', async () => {
    await expect(first(never)).rejects.toThrowError('nothing may be pulled here');
    expect(await readServedModel(store)).toBeUndefined();
  });

  it('is what the settings name, without a pull', async () => {
    expect(await first(never, configOf({ embedder: 'e5-small-v2' }))).toBe('e5-small-v2');
    expect(await first(never, configOf({ embedder: 'starter' }))).toBe('starter');
  });

  it.skipIf(miniLm.missing !== undefined)('is the installed default', async () => {
    symlinkSync(dirname(miniLm.directory), join(folder, 'models'));
    expect(await first(never)).toBe('all-MiniLM-L6-v2');
  });

  it('stays the default where the store holds notes, even if it is missing', async () => {
    const real = await openRealApp({ folder, flags: { embedder: 'starter' } });
    await real.app.useCases.commands.submit(ADMIN, CORRECTION);
    await real.close();
    expect(await first(never)).toBe('all-MiniLM-L6-v2');
  });
});
