import { LIMITS } from '../domain/limits.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import type { Keyset } from '../ports/note-store.js';
import type { NewLesson } from './find-near-duplicate.js';
import type { WriteContext } from './note-deps.js';

/** Waiting notes of one task type that are compared with, newest first: a longer queue is one that nobody judges. */
const MOST = 1_000;

/**
 * Lessons that wait for review, with their vectors: the index holds live notes only. Quarantined ones are left out, since a doubtful
 * text is nothing to compare with. At most `MOST`, in pages; asked for only by what will wait itself, so that an ordinary
 * submission pays nothing.
 */
export async function readWaitingLessons(
  context: WriteContext,
  namespace: string,
  taskType: string,
): Promise<readonly NewLesson[]> {
  const { store, embedder, clock } = context;
  const now = clock.now();
  const waiting: FeedbackNote[] = [];
  let after: Keyset | undefined;
  while (waiting.length < MOST) {
    const filter = { taskTypes: [taskType], statuses: ['PENDING' as const] };
    const page = { limit: LIMITS.pageSize, after };
    const { items, keysets, hasNext } = await store.notes.list([namespace], filter, 'CREATED_DESC', page);
    waiting.push(...items.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now));
    after = keysets.at(-1);
    if (!hasNext || after === undefined) break;
  }
  const ids: readonly NoteId[] = waiting.map(({ id }) => id);
  const vectors = ids.length === 0 ? new Map() : await store.notes.getVectors(namespace, ids);
  return waiting.flatMap((note) => {
    const held = vectors.get(note.id);
    return held?.modelId === embedder.model.id ? [{ ...note, lessonVector: held.lesson, waiting: true }] : [];
  });
}
