import { describe, expect, it } from 'vitest';
import type { ApiKeyRecord } from '../../../src/domain/api-key.js';
import type { Receipt } from '../../../src/domain/retrieval.js';
import { cosine } from '../../../src/domain/scores.js';
import type { Trial } from '../../../src/domain/trial.js';
import { parseGoldenSet } from '../../../src/evaluation/golden-set.js';
import { createEvaluations } from '../../../src/evaluation/golden-versions.js';
import { recordRun } from '../../../src/evaluation/run-history.js';
import { systemClock } from '../../../src/ports/clock.js';
import { caseOf, reportOf } from '../../evaluation/case-results.js';
import { type StoreTraits, useFixture } from './fixture.js';
import { at, noteId } from './sample-notes.js';

const receipt = (id: string, n: number, served: string[], more: Partial<Receipt> = {}): Receipt => ({
  id,
  namespace: 'acme',
  notes: served.map((label, i) => ({
    noteId: noteId(label),
    version: 2,
    score: 0.9 - i / 10,
    vectorScore: cosine(0.87654321),
  })),
  candidates: [...served, 'candidate'].map((label) => ({
    noteId: noteId(label),
    version: 1,
    score: 0.5,
    lexicalRank: 1,
  })),
  abstained: served.length === 0,
  threshold: 0.4,
  scoreScale: 'cosine',
  degraded: ['rerank: not configured'],
  plan: 'scan',
  exhaustive: true,
  indexRevision: '7',
  embeddingModel: 'model@1',
  truncated: false,
  stages: [{ name: 'embed', ms: 1.25 }],
  createdAt: at(n),
  queryDigest: 'digest',
  attributes: { 'a.b': '$c' },
  candidateK: 20,
  finalK: 3,
  caller: 'ci',
  ...more,
});
const key = (name: string, keyHash: string, more: Partial<ApiKeyRecord> = {}): ApiKeyRecord => ({
  name,
  keyHash,
  roles: ['reader', 'reviewer'],
  createdAt: at(0),
  ...more,
});

/** Receipts, API keys, settings. */
export function describeSideStores(traits: StoreTraits): void {
  describe('receipts, keys, settings', () => {
    const fixture = useFixture(traits);

    it('keeps receipts and finds them by the notes that were served', async () => {
      const { receipts } = fixture().store;
      const first = receipt('r1', 1, ['a', 'b']);
      await receipts.put(first);
      await receipts.put(receipt('r2', 2, ['a']));
      await receipts.put(receipt('r3', 3, ['a'], { namespace: 'umbra' }));
      await receipts.put(receipt('r4', 4, []));
      expect(await receipts.get('r1')).toEqual(first);
      expect(await receipts.get('none')).toBeUndefined();
      const ids = async (label: string, limit = 9) =>
        (await receipts.listByNote('acme', noteId(label), limit)).map(({ id }) => id);
      expect(await ids('a')).toEqual(['r2', 'r1']);
      expect(await ids('a', 1)).toEqual(['r2']);
      expect(await ids('b')).toEqual(['r1']);
      expect(await ids('candidate')).toEqual([]);
    });

    it('finds receipts whose answer held notes by their time', async () => {
      const { receipts } = fixture().store;
      for (const n of [1, 2, 3]) await receipts.put(receipt(`r${n}`, n, ['a', 'b']));
      await receipts.put(receipt('none', 2, []));
      await receipts.put(receipt('other', 2, ['a'], { namespace: 'umbra' }));
      const ids = async (time: { from?: string; to?: string }, limit = 9) =>
        (await receipts.listByTime('acme', time, limit)).map(({ id }) => id);
      expect(await ids({ from: at(2) })).toEqual(['r3', 'r2']);
      expect(await ids({ to: at(3) })).toEqual(['r2', 'r1']);
      expect(await ids({ from: at(2), to: at(3) })).toEqual(['r2']);
      expect(await ids({}, 2)).toEqual(['r3', 'r2']);
    });

    it('prunes receipts older than an instant', async () => {
      const { receipts } = fixture().store;
      for (const n of [1, 2, 3]) await receipts.put(receipt(`r${n}`, n, ['a']));
      expect(await receipts.prune(at(3))).toBe(2);
      expect(await receipts.get('r2')).toBeUndefined();
      expect((await receipts.listByNote('acme', noteId('a'), 9)).map(({ id }) => id)).toEqual(['r3']);
      expect(await receipts.prune(at(3))).toBe(0);
    });

    it('settles a trial once and keeps it by namespace', async () => {
      const { trials } = fixture().store;
      const trial = (receiptId: string, n: number, more: Partial<Trial> = {}): Trial => ({
        receiptId,
        namespace: 'acme',
        noteId: noteId('a'),
        withheld: n % 2 === 0,
        at: at(n),
        ...more,
      });
      for (const n of [1, 2, 3]) await trials.put(trial(`r${n}`, n));
      await trials.put(trial('r4', 4, { namespace: 'umbra' }));
      await trials.put(trial('r1', 9));
      expect(await trials.settled('acme', 9)).toEqual([]);
      expect(await trials.settle('r1', true)).toBe(true);
      expect(await trials.settle('r1', false)).toBe(false);
      expect(await trials.settle('none', true)).toBe(false);
      expect(await trials.settle('r2', false)).toBe(true);
      expect(await trials.settle('r4', false)).toBe(true);
      const settled = [trial('r2', 2, { correct: false }), trial('r1', 1, { correct: true })];
      expect(await trials.settled('acme', 9)).toEqual(settled);
      expect(await trials.settled('acme', 1)).toEqual(settled.slice(0, 1));
    });

    it('lets one live key have a name, and finds keys by hash until they are revoked', async () => {
      const { keys } = fixture().store;
      const first = key('ci', 'hash 1', { namespaces: ['acme'] });
      await keys.create(first);
      await expect(keys.create(key('ci', 'hash 2'))).rejects.toMatchObject({ code: 'KEY_EXISTS' });
      expect(await keys.findByHash('hash 1')).toEqual(first);
      expect(await keys.findByHash('hash 2')).toBeUndefined();
      expect(await keys.revoke('ci', at(5))).toBe(true);
      expect(await keys.revoke('ci', at(6))).toBe(false);
      expect(await keys.revoke('none', at(6))).toBe(false);
      expect(await keys.findByHash('hash 1')).toBeUndefined();

      const second = key('ci', 'hash 3', { createdAt: at(7), roles: ['admin'] });
      await keys.create(second);
      expect(await keys.findByHash('hash 3')).toEqual(second);
      expect(await keys.list()).toEqual([{ ...first, revokedAt: at(5) }, second]);
      expect(await keys.revoke('ci', at(8))).toBe(true);
      await keys.create(key('ci', 'hash 4', { createdAt: at(9) }));
      expect((await keys.list()).map(({ keyHash }) => keyHash)).toEqual(['hash 1', 'hash 3', 'hash 4']);
    });

    it('gives a name to one of many that ask at once', async () => {
      const { keys } = fixture().store;
      const ask = async () => {
        const asked = Array.from({ length: 8 }, (_, i) =>
          keys.create(key('ci', `hash ${i} ${Math.random()}`)),
        );
        return (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled').length;
      };
      expect(await ask()).toBe(1);
      await keys.revoke('ci', at(1));
      expect(await ask()).toBe(1);
      expect(await keys.list()).toHaveLength(2);
    });

    it('lets exactly one of many first values win', async () => {
      const { settings } = fixture().store;
      const values = Array.from({ length: 10 }, (_, index) => JSON.stringify(index));
      const won = await Promise.all(values.map((value) => settings.putIfAbsent('secret', value)));
      expect(new Set(won).size).toBe(1);
      expect(await settings.get('secret')).toBe(won[0]);
      expect(await settings.putIfAbsent('secret', '"late"')).toBe(won[0]);
    });

    it('replaces a setting only where it is as expected, and of several writers one wins', async () => {
      const { settings } = fixture().store;
      expect(await settings.replace('counted', '"0"', '"1"')).toBe(false);
      expect(await settings.get('counted')).toBeUndefined();
      const values = ['"a"', '"b"', '"c"', '"d"'];
      const made = await Promise.all(values.map((value) => settings.replace('counted', undefined, value)));
      expect(made.filter(Boolean)).toHaveLength(1);
      const first = values[made.indexOf(true)];
      expect(await settings.get('counted')).toBe(first);
      const changed = await Promise.all(
        ['"x"', '"y"'].map((value) => settings.replace('counted', first, value)),
      );
      expect(changed.filter(Boolean)).toHaveLength(1);
      expect(await settings.replace('counted', first, '"late"')).toBe(false);
      expect(await settings.get('counted')).toBe(['"x"', '"y"'][changed.indexOf(true)]);
    });

    it('keeps the judgements and runs of two processes that save at once', async () => {
      const { store } = fixture();
      const caller = { name: 'rita', roles: ['reviewer'] } as const;
      const namespace = 'judged';
      // Each has a queue of its own, as processes have.
      const processes = [1, 2].map(() => createEvaluations({ store, clock: systemClock }));
      const questions = Array.from({ length: 12 }, (_, index) => `question ${index}`);
      await Promise.all(
        questions.map((query, index) =>
          processes[index % 2]!.addGoldenQuery(caller, { namespace, query, expected: [] }),
        ),
      );
      const { queries } = parseGoldenSet(await processes[0]!.goldenText(namespace), 'set');
      expect(queries.map(({ query }) => query).toSorted()).toEqual(questions.toSorted());
      const set = await processes[1]!.goldenSet(namespace);
      expect(set?.versions).toHaveLength(questions.length);
      for (const { digest } of set?.versions ?? [])
        expect(parseGoldenSet(await processes[0]!.goldenText(namespace, digest), 'set').digest).toBe(digest);

      const report = reportOf([caseOf({ id: 'q', expected: ['a'], ranking: ['a'], answered: ['a'] })]);
      const runs = await Promise.all(Array.from({ length: 6 }, () => recordRun(store.settings, report)));
      const kept = await processes[0]!.runs(report.namespace, 50);
      expect(kept.map(({ id }) => id).toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
    });

    it('replaces settings by name', async () => {
      const { settings } = fixture().store;
      expect(await settings.get('thresholds')).toBeUndefined();
      await settings.put('thresholds', '{"cosine":0.4}');
      await settings.put('thresholds', '{"cosine":0.5}');
      expect(await settings.get('thresholds')).toBe('{"cosine":0.5}');
      await fixture().store.ping();
      expect(fixture().store.description).toMatch(/^(sqlite|mongodb)/);
    });
  });
}
