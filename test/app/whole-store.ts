import { expect } from 'vitest';
import { verifyAudit } from '../../src/guard/verify-audit.js';
import type { Store } from '../../src/ports/note-store.js';
import type { ServerProcess } from './dist-process.js';

const STATS = '{ stats { indexedVectors notes } }';
/** More than any of these tests makes. */
const ALL = 1_000_000;

/**
 * Every version of every note has its audit event and nothing else has, the chain of events verifies with nothing left unsealed, no
 * record is damaged, and every server's index holds exactly the active notes. Waits for what a living process has to complete for a
 * killed one.
 */
export async function expectWhole(store: Store, servers: readonly ServerProcess[]): Promise<void> {
  await expect
    .poll(async () => (await verifyAudit(store.audit)).unsealed, { timeout: 120_000, interval: 200 })
    .toEqual([]);
  const { problems } = await verifyAudit(store.audit);
  expect(problems).toEqual([]);
  const versions = await store.notes.versions(undefined, ALL);
  const expected = versions
    .flatMap(({ id, version }) => Array.from({ length: version }, (_, index) => `${id}:${index + 1}`))
    .sort();
  // Where a write is not one transaction, a living process adds the killed one's event seconds later.
  const events = async () =>
    (await store.audit.list('all', {}, { limit: ALL })).items
      .filter(({ noteId }) => noteId !== undefined)
      .map(({ id }) => id)
      .sort();
  await expect.poll(events, { timeout: 60_000, interval: 500 }).toEqual(expected);
  expect(store.notes.corruptRecords()).toBe(0);
  const changed = async () =>
    new Set((await store.notes.changesSince(0, ALL)).changes.flatMap(({ noteIds }) => noteIds));
  await expect
    .poll(changed, { timeout: 60_000, interval: 500 })
    .toEqual(new Set(versions.map(({ id }) => id)));
  const active = await store.notes.count('all', { statuses: ['ACTIVE'] });
  for (const server of servers) {
    await expect
      .poll(async () => (await server.query(STATS)).data.stats, { timeout: 120_000, interval: 200 })
      .toEqual({ indexedVectors: active, notes: versions.length });
  }
}
