import type { FeedbackNote, Instant, NoteId } from '../domain/note.js';
import type { Conflict } from '../domain/retrieval.js';
import type { NoteStore } from '../ports/note-store.js';
import type { ValidRequest } from './check-request.js';

export interface Hydrated {
  readonly notes: ReadonlyMap<NoteId, FeedbackNote>;
  /** Of candidates only; whether an answer holds the note is known later. */
  readonly conflicts: readonly Conflict[];
}

/**
 * Reads the candidates as the store has them now and drops what is not active, has expired, no longer matches the filter, is
 * superseded by another candidate, or is contradicted by a newer one. One round trip; a second one where a candidate's opposite
 * is none itself.
 */
export async function hydrate(
  store: NoteStore,
  request: Pick<ValidRequest, 'namespace' | 'taskType' | 'attributes'>,
  ids: readonly NoteId[],
  now: Instant,
): Promise<Hydrated> {
  const found = await store.getMany(request.namespace, ids);
  const live = found.filter(
    (note) =>
      note.status === 'ACTIVE' &&
      (note.expiresAt === undefined || note.expiresAt > now) &&
      (request.taskType === undefined || note.taskType === request.taskType) &&
      Object.entries(request.attributes).every(([key, value]) => note.attributes[key] === value),
  );
  const superseded = new Set(live.flatMap((note) => note.supersedes));
  const standing = live.filter((note) => !superseded.has(note.id));
  const conflicts = await conflictsOf(store, request.namespace, standing);
  const outdone = new Set(
    conflicts.filter(({ resolution }) => resolution === 'NEWEST').map(({ noteId }) => noteId),
  );
  return {
    notes: new Map(standing.filter(({ id }) => !outdone.has(id)).map((note) => [note.id, note])),
    conflicts,
  };
}

/** Until a reviewer has decided between two opposites the newest is preferred, where it is live; where it waits, that is said. */
async function conflictsOf(
  store: NoteStore,
  namespace: string,
  standing: readonly FeedbackNote[],
): Promise<readonly Conflict[]> {
  const contested = standing.flatMap(({ id, contestedBy }) =>
    contestedBy === undefined ? [] : [{ noteId: id, contestedBy }],
  );
  const present = new Set(standing.map(({ id }) => id));
  const absent = contested.map(({ contestedBy }) => contestedBy).filter((id) => !present.has(id));
  const others = absent.length === 0 ? [] : await store.getMany(namespace, absent);
  const open = new Set(others.filter(({ status }) => status !== 'DEPRECATED').map(({ id }) => id));
  return contested.flatMap((conflict): Conflict[] => {
    if (present.has(conflict.contestedBy)) return [{ ...conflict, resolution: 'NEWEST' }];
    return open.has(conflict.contestedBy) ? [{ ...conflict, resolution: 'CONTESTED' }] : [];
  });
}
