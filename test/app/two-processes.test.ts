import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isErrataError } from '../../src/domain/errors.js';
import { modelForTests } from '../models/installed-model.js';
import { seeded } from './dist-process.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';

const { missing } = await modelForTests();

function correction(name: string, author = 'ada') {
  return {
    taskType: 'code-review',
    wrongAnswer: `Said that write_${name}() may be called twice.`,
    correction: `write_${name}() closes its stream.`,
    lesson: `write_${name}() closes its stream; a second call is an error that must be reported.`,
    source: { kind: 'review', author },
  };
}

/** Two apps over one file: each with a connection, an index and a follower of its own, as two processes have them. */
describe.skipIf(missing !== undefined)('two writers at once (needs all-MiniLM-L6-v2)', () => {
  let apps: readonly [RealApp, RealApp];
  beforeAll(async () => {
    const first = await openRealApp();
    apps = [first, await openRealApp({ folder: first.folder })];
  });
  afterAll(async () => {
    await apps?.[1].close();
    await apps?.[0].close();
  });

  it('end with the same notes in both indexes and in the store', { timeout: 120_000 }, async () => {
    const seed = Number(process.env.ERRATA_TEST_SEED ?? Date.now() % 1_000_000);
    const random = seeded(seed);
    const shared = Array.from({ length: 12 }, (_, index) => correction(`shared_${index}`));
    const results = await apps[0].app.useCases.commands.submitMany(ADMIN, shared);
    const ids = results.map(({ note }) => note?.id ?? '');
    const client = async (real: RealApp, name: string): Promise<void> => {
      const { commands, retrieval } = real.app.useCases;
      for (let step = 0; step < 15; step += 1) {
        const id = ids[Math.floor(random() * ids.length)] ?? '';
        const choice = random();
        if (choice < 0.3) await commands.submit(ADMIN, correction(`${name}_${step}`));
        // The same text from both sides, each with a source of its own.
        else if (choice < 0.5) await commands.submit(ADMIN, correction(`both_${step}`, name));
        else if (choice < 0.7) await commands.deprecate(ADMIN, 'default', [id], name);
        else if (choice < 0.9) await commands.restore(ADMIN, 'default', [id], name);
        else {
          const before = await real.store.notes.get('default', id);
          const answer = await retrieval.retrieve(ADMIN, { query: before?.lesson ?? '' });
          // What was deprecated before the call and still is afterwards must not have been served in between.
          const after = await real.store.notes.get('default', id);
          if (before?.status === 'DEPRECATED' && after?.version === before.version) {
            expect(answer.candidates.map(({ note }) => note.id)).not.toContain(id);
          }
        }
      }
    };
    const clients = apps.flatMap((real, app) => [0, 1].map((index) => client(real, `app${app}_${index}`)));
    for (const outcome of await Promise.allSettled(clients)) {
      if (outcome.status === 'fulfilled') continue;
      throw new Error(`seed ${seed}: ${isErrataError(outcome.reason) ? outcome.reason.code : ''}`, {
        cause: outcome.reason,
      });
    }
    const [{ store }] = apps;
    const active: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await store.notes.scanActive(after, 1_000);
      active.push(...page.map(({ note }) => note.id));
      after = page.at(-1)?.note.id;
      if (page.length < 1_000) break;
    }
    for (const real of apps) {
      await real.app.retrieveDeps.follower.catchUp();
      expect(real.engines.vectorIndex.count(), `seed ${seed}`).toBe(active.length);
      expect(real.engines.lexicalIndex.count(), `seed ${seed}`).toBe(active.length);
      for (const { id, version, status } of await store.notes.versions(undefined, 1_000)) {
        const held = real.engines.vectorIndex.versionOf('default', id);
        expect(held, `seed ${seed}`).toBe(status === 'ACTIVE' ? version : undefined);
      }
      // Nothing left to mend.
      expect(await real.app.retrieveDeps.follower.resync()).toBe(0);
    }
    for (const note of (await store.notes.list('all', {}, 'CREATED_ASC', { limit: 200 })).items) {
      expect(note.supportCount, `seed ${seed}`).toBe(note.sources.length);
      const history = await store.audit.count('all', { noteId: note.id });
      expect(history, `seed ${seed}`).toBe(note.version);
    }
  });
});
