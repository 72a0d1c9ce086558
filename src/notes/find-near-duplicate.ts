import type { FeedbackNote, Impact, MergeCandidate, NoteId, NoteStatus } from '../domain/note.js';
import { agree, factsConflict } from './agree.js';
import { correctionsOppose } from './compare-corrections.js';
import type { WriteContext, WritePolicy } from './note-deps.js';
import { polarityAgrees } from './polarity.js';
import { sameWords } from './same-words.js';

/** A new note's text and lesson vector, before anything is written. */
export interface NewLesson
  extends Pick<FeedbackNote, 'namespace' | 'taskType' | 'lesson' | 'correction' | 'wrongAnswer'> {
  readonly id: NoteId;
  readonly impact?: Impact | undefined;
  /** Whether it waits for review, where it is one to compare with. */
  readonly waiting?: boolean | undefined;
  /** Unit length, `[dimensions]` float32. */
  readonly lessonVector: Float32Array;
}

/**
 * `none`: nothing near, or near ones that differ in numbers or identifiers. `duplicate`: the same lesson in the same words.
 * `opposite`: the same subject with the sense turned around. `proposal`: perhaps the same lesson in other words. The last two
 * are for a reviewer to see; only the first is decided here.
 */
export type NearDuplicate =
  | { readonly kind: 'none'; readonly similarity?: number | undefined }
  | {
      readonly kind: 'duplicate' | 'opposite' | 'proposal';
      readonly noteId: NoteId;
      readonly similarity: number;
      /** Of the note that was found. */
      readonly impact: Impact;
      readonly waiting: boolean;
    };

type Comparable = Pick<FeedbackNote, 'lesson' | 'correction' | 'wrongAnswer'>;

interface Neighbour extends Comparable {
  readonly noteId: NoteId;
  readonly similarity: number;
  readonly impact: Impact;
  readonly waiting: boolean;
}

/**
 * How a new note relates to one at a given cosine of their lessons. Merged is only what agrees in lesson, correction and wrong
 * answer; near lessons are a contradiction where they, or their corrections, turn each other around. Pure; what `errata report
 * duplicates` measures.
 */
export function relate(
  a: Comparable,
  b: Comparable,
  similarity: number,
  policy: Pick<WritePolicy, 'duplicateSimilarity' | 'contradictionSimilarity' | 'proposalSimilarity'>,
): NearDuplicate['kind'] {
  if (similarity >= policy.duplicateSimilarity && agree(a, b) === 'same' && inSameWords(a, b)) {
    return 'duplicate';
  }
  if (similarity < policy.proposalSimilarity || factsConflict(a.lesson, b.lesson)) {
    return 'none';
  }
  const opposes = () => !polarityAgrees(a.lesson, b.lesson) || correctionsOppose(a, b);
  return similarity >= policy.contradictionSimilarity && opposes() ? 'opposite' : 'proposal';
}

/** A word that only one of them has may turn it around, in a correction ("the server part", "the client part") as in a lesson. */
function inSameWords(a: Comparable, b: Comparable): boolean {
  return sameWords(a.lesson, b.lesson) && sameWords(a.correction, b.correction);
}

/** Worst first: of several neighbours the one that says the same wins, then a contradiction, then the nearest proposal. */
const PRECEDENCE = ['duplicate', 'opposite', 'proposal'] as const;

/**
 * Looks for active notes of the same namespace and task type whose lesson is within `policy.proposalSimilarity`, in the
 * index and among `pending`, the lessons of the same chunk that are about to be written. The index finds neighbours by
 * either row; the decision is made on the lesson vectors and the stored text. Expects the index to be up to date.
 *
 * One index search; store calls only where something is near. Errors: as the ports'.
 */
export async function findNearDuplicate(
  context: WriteContext,
  subject: NewLesson,
  pending: readonly NewLesson[],
): Promise<NearDuplicate> {
  return nearest(context, subject, [
    ...(await storedNeighbours(context, subject)),
    ...pendingNeighbours(context, subject, pending),
  ]);
}

/** The same look-up among named notes only, live ones or of the statuses given: what another process wrote between look-up and write. */
export async function findNearDuplicateAmong(
  context: WriteContext,
  subject: NewLesson,
  ids: readonly NoteId[],
  statuses: readonly NoteStatus[] = ['ACTIVE'],
): Promise<NearDuplicate> {
  return nearest(context, subject, await neighboursOf(context, subject, ids, statuses));
}

/** The same among lessons that are at hand. Pure; one dot product a lesson. */
export function findNearDuplicateIn(
  context: WriteContext,
  subject: NewLesson,
  lessons: readonly NewLesson[],
): NearDuplicate {
  return nearest(context, subject, pendingNeighbours(context, subject, lessons));
}

/** What a note that was found is to a reviewer; undefined: none was. */
export function candidateOf(near: NearDuplicate): MergeCandidate | undefined {
  if (near.kind === 'none') return undefined;
  const { noteId, similarity, waiting } = near;
  return { noteId, similarity, ...(waiting && { waiting: true as const }) };
}

function nearest(
  { policy }: WriteContext,
  subject: NewLesson,
  neighbours: readonly Neighbour[],
): NearDuplicate {
  const near = neighbours.toSorted((a, b) => b.similarity - a.similarity || (a.noteId < b.noteId ? -1 : 1));
  const judged = near.map((neighbour) => ({
    ...neighbour,
    kind: relate(subject, neighbour, neighbour.similarity, policy),
  }));
  for (const kind of PRECEDENCE) {
    const found = judged.find((neighbour) => neighbour.kind === kind);
    if (found !== undefined) {
      const { noteId, similarity, impact, waiting } = found;
      return { kind, noteId, similarity, impact, waiting };
    }
  }
  return { kind: 'none', similarity: near[0]?.similarity };
}

async function storedNeighbours(context: WriteContext, subject: NewLesson): Promise<readonly Neighbour[]> {
  const { vectorIndex, policy } = context;
  const { namespace, taskType, lessonVector } = subject;
  const { hits } = await vectorIndex.search({
    namespace,
    taskType,
    vector: lessonVector,
    k: policy.neighbours,
  });
  const ids = hits.filter(({ score }) => score >= policy.proposalSimilarity).map(({ id }) => id);
  return neighboursOf(context, subject, ids);
}

async function neighboursOf(
  context: WriteContext,
  subject: NewLesson,
  ids: readonly NoteId[],
  statuses: readonly NoteStatus[] = ['ACTIVE'],
): Promise<readonly Neighbour[]> {
  const { store, policy, clock, embedder, vectors: source = store.notes } = context;
  const { namespace, taskType, lessonVector } = subject;
  if (ids.length === 0) {
    return [];
  }
  const [notes, vectors] = await Promise.all([
    store.notes.getMany(namespace, ids),
    source.getVectors(namespace, ids),
  ]);
  const now = clock.now();
  return notes.flatMap((note) => {
    const held = vectors.get(note.id);
    const alive =
      statuses.includes(note.status) &&
      note.taskType === taskType &&
      (note.expiresAt === undefined || note.expiresAt > now);
    if (!alive || note.id === subject.id || held === undefined || held.modelId !== embedder.model.id) {
      return [];
    }
    const similarity = dot(lessonVector, held.lesson);
    const waiting = note.status !== 'ACTIVE';
    return similarity < policy.proposalSimilarity
      ? []
      : [{ noteId: note.id, similarity, waiting, ...pick(note) }];
  });
}

function pendingNeighbours(
  { policy }: WriteContext,
  subject: NewLesson,
  pending: readonly NewLesson[],
): readonly Neighbour[] {
  return pending.flatMap((other) => {
    const comparable = other.namespace === subject.namespace && other.taskType === subject.taskType;
    if (!comparable || other.id === subject.id) {
      return [];
    }
    const similarity = dot(subject.lessonVector, other.lessonVector);
    const waiting = other.waiting === true;
    return similarity < policy.proposalSimilarity
      ? []
      : [{ noteId: other.id, similarity, waiting, ...pick(other) }];
  });
}

function pick({
  lesson,
  correction,
  wrongAnswer,
  impact = 'NORMAL',
}: Comparable & { readonly impact?: Impact | undefined }) {
  return { lesson, correction, wrongAnswer, impact };
}

/** Cosine of two unit vectors; double accumulation, clamped against rounding. */
function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) {
    sum += (a[index] ?? 0) * (b[index] ?? 0);
  }
  return Math.min(1, Math.max(-1, sum));
}
