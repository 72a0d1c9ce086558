import type { FeedbackNote, NoteId } from '../domain/note.js';
import { agree } from './agree.js';
import type { WriteContext } from './note-deps.js';

/** A new note's text and lesson vector, before anything is written. */
export interface NewLesson extends Pick<FeedbackNote, 'namespace' | 'taskType' | 'lesson' | 'correction'> {
  readonly id: NoteId;
  /** Unit length, `[dimensions]` float32. */
  readonly lessonVector: Float32Array;
}

/**
 * `none`: nothing near, or near ones that differ in numbers or identifiers. `duplicate`: the same lesson in other words.
 * `opposite`: the same subject with the sense turned around, for a reviewer to see.
 */
export type NearDuplicate =
  | { readonly kind: 'none'; readonly similarity?: number | undefined }
  | { readonly kind: 'duplicate' | 'opposite'; readonly noteId: NoteId; readonly similarity: number };

interface Neighbour extends Pick<FeedbackNote, 'lesson' | 'correction'> {
  readonly noteId: NoteId;
  readonly similarity: number;
}

/**
 * Looks for active notes of the same namespace and task type whose lesson is within `policy.duplicateSimilarity`, in the
 * index and among `pending`, the lessons of the same chunk that are about to be written. The index finds neighbours by
 * either row; the decision is made on the stored lesson vectors and the stored text. Expects the index to be up to date.
 *
 * One index search; store calls only where something is near. Errors: as the ports'.
 */
export async function findNearDuplicate(
  context: WriteContext,
  subject: NewLesson,
  pending: readonly NewLesson[],
): Promise<NearDuplicate> {
  const near = [
    ...(await storedNeighbours(context, subject)),
    ...pendingNeighbours(context, subject, pending),
  ];
  near.sort((a, b) => b.similarity - a.similarity || (a.noteId < b.noteId ? -1 : 1));
  const judged = near.map((neighbour) => ({ neighbour, agreement: agree(subject, neighbour) }));
  const found =
    judged.find(({ agreement }) => agreement === 'same') ??
    judged.find(({ agreement }) => agreement === 'opposite');
  if (found === undefined) {
    return { kind: 'none', similarity: near[0]?.similarity };
  }
  const { noteId, similarity } = found.neighbour;
  return { kind: found.agreement === 'same' ? 'duplicate' : 'opposite', noteId, similarity };
}

async function storedNeighbours(context: WriteContext, subject: NewLesson): Promise<readonly Neighbour[]> {
  const { store, vectorIndex, policy, clock, embedder } = context;
  const { namespace, taskType, lessonVector } = subject;
  const { hits } = await vectorIndex.search({
    namespace,
    taskType,
    vector: lessonVector,
    k: policy.neighbours,
  });
  const ids = hits.filter(({ score }) => score >= policy.duplicateSimilarity).map(({ id }) => id);
  if (ids.length === 0) {
    return [];
  }
  const [notes, vectors] = await Promise.all([
    store.notes.getMany(namespace, ids),
    store.notes.getVectors(namespace, ids),
  ]);
  const now = clock.now();
  return notes.flatMap((note) => {
    const held = vectors.get(note.id);
    const alive = note.status === 'ACTIVE' && (note.expiresAt === undefined || note.expiresAt > now);
    if (!alive || note.id === subject.id || held === undefined || held.modelId !== embedder.model.id) {
      return [];
    }
    const similarity = dot(lessonVector, held.lesson);
    return similarity < policy.duplicateSimilarity
      ? []
      : [{ noteId: note.id, similarity, lesson: note.lesson, correction: note.correction }];
  });
}

function pendingNeighbours(
  { policy }: WriteContext,
  subject: NewLesson,
  pending: readonly NewLesson[],
): readonly Neighbour[] {
  return pending.flatMap((other) => {
    if (other.namespace !== subject.namespace || other.taskType !== subject.taskType) {
      return [];
    }
    const similarity = dot(subject.lessonVector, other.lessonVector);
    return similarity < policy.duplicateSimilarity
      ? []
      : [{ noteId: other.id, similarity, lesson: other.lesson, correction: other.correction }];
  });
}

/** Cosine of two unit vectors; double accumulation, clamped against rounding. */
function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) {
    sum += (a[index] ?? 0) * (b[index] ?? 0);
  }
  return Math.min(1, Math.max(-1, sum));
}
