import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import { type App, createApp } from '../../src/app/create-app.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { Store } from '../../src/ports/note-store.js';
import { wordEngines } from '../doubles/word-app.js';
import { correction } from '../doubles/write-path.js';
import { e5Small, modelForTests, testCacheDir } from '../models/installed-model.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';

const model = await modelForTests(e5Small);

describe('an app with a model that nothing was fitted for', () => {
  const engines = { ...wordEngines(), similarities: undefined };
  let folder: string;
  let store: Store;
  let app: App;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errata-unfitted-'));
    store = await createSqliteStore({ path: join(folder, 'errata.sqlite') });
    app = await createApp({ store, engines, logger: silentLogger, runJobs: false });
  });
  afterAll(async () => {
    await app.close();
    await engines.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const text = 'Findings in packages that only tests load never block a release of the product itself';

  it('merges the same text only, proposes what is very near, and holds nothing as a contradiction', async () => {
    const { commands } = app.useCases;
    const first = correction({ lesson: `${text}.` });
    const outcomeOf = async (input: typeof first) => (await commands.submit(ADMIN, input)).outcome;
    expect(await outcomeOf(first)).toBe('CREATED');
    expect(await outcomeOf(first)).toBe('UPDATED');
    // The same words, and the opposite: with limits for the model a duplicate and a contradiction.
    expect(await outcomeOf(correction({ lesson: `${text}!` }))).toBe('MERGE_PROPOSED');
    const opposite = text.replace('never block', 'always block');
    expect(await outcomeOf(correction({ lesson: opposite }))).toBe('MERGE_PROPOSED');
  });

  it('has no threshold, and says so with what to do', async () => {
    const answer = await app.useCases.retrieval.retrieve(ADMIN, {
      query: 'nothing of the kind',
      taskType: correction({}).taskType,
    });
    expect(answer).toMatchObject({ scoreScale: 'cosine', threshold: -1 });
    expect(answer.degraded).toContainEqual(
      expect.stringMatching(
        /^calibration: no fitted scores for words@test, so no threshold; run errata calibrate/,
      ),
    );
  });
});

describe.skipIf(model.missing !== undefined)('an app with e5-small-v2 as embedder', () => {
  let real: RealApp;
  beforeAll(async () => {
    real = await openRealApp({ flags: { embedder: 'e5-small-v2', 'models-dir': testCacheDir } });
    const lesson = (text: string, correction: string) => ({
      taskType: 'dependency-scan',
      wrongAnswer: `Reported as exploitable: ${correction}`,
      correction,
      lesson: text,
    });
    await real.app.useCases.commands.submitMany(ADMIN, [
      lesson(
        'Server-side HTTP/2 floods in netty do not apply to programs that never listen on a port.',
        'The viewer opens no listening socket.',
      ),
      lesson(
        'A jar that is only on the test class path is not shipped; findings in it are not release blockers.',
        'The jar is a test dependency.',
      ),
      lesson(
        'Findings in a bundled browser engine count even where no page is loaded from the network.',
        'The help window renders local pages with it.',
      ),
    ]);
  });
  afterAll(() => real.close());

  it('retrieves with it, with scores, threshold and late interaction of its own', async () => {
    const answer = await real.app.useCases.retrieval.retrieve(ADMIN, {
      query: 'netty denial of service by HTTP/2 rapid reset in a desktop application',
      taskType: 'dependency-scan',
    });
    expect(answer.embeddingModel).toMatch(/^e5-small-v2@[0-9a-f]{12}$/);
    expect(answer.notes[0]?.note.lesson).toMatch(/^Server-side HTTP\/2 floods/);
    expect(answer).toMatchObject({ scoreScale: 'probability', degraded: [] });
    expect(answer.notes).toHaveLength(1);
    expect(answer.candidates.length).toBeGreaterThan(1);
  });

  it('embeds queries and passages differently', async () => {
    const { embedder } = real.engines;
    const text = 'netty denial of service';
    const [[query], [passage]] = await Promise.all([
      embedder.embed([text], { kind: 'query' }),
      embedder.embed([text], { kind: 'passage' }),
    ]);
    expect(query?.vector).not.toEqual(passage?.vector);
    expect(query?.tokens).toBe(passage?.tokens);
  });
});
