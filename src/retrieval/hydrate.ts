import type { FeedbackNote, Instant, NoteId } from '../domain/note.js';
import type { NoteStore } from '../ports/note-store.js';
import type { ValidRequest } from './check-request.js';

/**
 * Reads the candidates as the store has them now and drops what is not active, has expired, no longer matches the filter, or
 * is superseded by another candidate. One round trip.
 */
export async function hydrate(
  store: NoteStore,
  request: Pick<ValidRequest, 'namespace' | 'taskType' | 'attributes'>,
  ids: readonly NoteId[],
  now: Instant,
): Promise<ReadonlyMap<NoteId, FeedbackNote>> {
  const found = await store.getMany(request.namespace, ids);
  const live = found.filter(
    (note) =>
      note.status === 'ACTIVE' &&
      (note.expiresAt === undefined || note.expiresAt > now) &&
      (request.taskType === undefined || note.taskType === request.taskType) &&
      Object.entries(request.attributes).every(([key, value]) => note.attributes[key] === value),
  );
  const superseded = new Set(live.flatMap((note) => note.supersedes));
  return new Map(live.filter((note) => !superseded.has(note.id)).map((note) => [note.id, note]));
}
