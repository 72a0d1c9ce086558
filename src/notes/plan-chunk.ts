import type { Caller } from '../domain/api-key.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import { DEFAULT_REVIEW_POLICY, type ReviewPolicy } from '../domain/review.js';
import type { NoteInsert } from '../ports/note-store.js';
import type { SubmitOutcome } from '../ports/use-cases.js';
import { draftNote, type NoteDraft } from './draft-note.js';
import type { EmbeddedNote } from './embed-notes.js';
import {
  candidateOf,
  findNearDuplicate,
  findNearDuplicateIn,
  type NearDuplicate,
  type NewLesson,
} from './find-near-duplicate.js';
import type { WriteContext } from './note-deps.js';
import type { PreparedCorrection } from './prepare-correction.js';
import { readReviewPolicy } from './review-policy.js';
import { readWaitingLessons } from './waiting-lessons.js';

/** What will be done with one correction, decided before anything of its chunk is written. */
export type Plan =
  | {
      readonly kind: 'insert';
      readonly insert: NoteInsert;
      readonly outcome: SubmitOutcome;
      readonly lesson: NewLesson;
      /** To the nearest note within the policy's reach, also where it turned out to say something else. */
      readonly similarity?: number | undefined;
      /** Whether the merge candidate says the opposite. */
      readonly contradicts: boolean;
    }
  | { readonly kind: 'merge' }
  | { readonly kind: 'support'; readonly target: { readonly noteId: NoteId; readonly similarity: number } };

/** The notes of a chunk that the store holds already, by id; one round trip a namespace. */
export async function storedNotes(
  { store }: WriteContext,
  chunk: readonly PreparedCorrection[],
): Promise<ReadonlyMap<NoteId, FeedbackNote>> {
  const namespaces = [...new Set(chunk.map(({ namespace }) => namespace))];
  const found = await Promise.all(
    namespaces.map((namespace) =>
      store.notes.getMany(
        namespace,
        chunk.filter((prepared) => prepared.namespace === namespace).map(({ id }) => id),
      ),
    ),
  );
  return new Map(found.flat().map((note) => [note.id, note]));
}

/**
 * Decides in the order given, so that of two near duplicates in one batch the first is the note and the second its support.
 * What has to wait is compared with what waits, too, and proposed to be looked at with it.
 * Writes nothing; expects the caller to hold the locks of the chunk's task types until the plans are carried out.
 */
export async function planChunk(
  context: WriteContext,
  caller: Caller,
  chunk: readonly PreparedCorrection[],
  embedded: ReadonlyMap<NoteId, EmbeddedNote>,
): Promise<readonly Plan[]> {
  await context.catchUp();
  const stored = await storedNotes(context, chunk);
  const planned = new Set<NoteId>();
  const pending: NewLesson[] = [];
  const waiting = new Map<string, NewLesson[]>();
  const plans: Plan[] = [];
  const at = context.clock.now();
  const policies = new Map<string, ReviewPolicy>();
  for (const namespace of new Set(chunk.map((prepared) => prepared.namespace))) {
    policies.set(namespace, await readReviewPolicy(context.store, namespace));
  }
  for (const prepared of chunk) {
    const vectors = embedded.get(prepared.id);
    if (stored.has(prepared.id) || planned.has(prepared.id) || vectors === undefined) {
      plans.push({ kind: 'merge' });
      continue;
    }
    const lesson: NewLesson = { ...prepared, lessonVector: vectors.vectors.lesson };
    // A quarantined text must not lend its source to a live note, nor be compared with one in the reviewer's eyes.
    const near = prepared.quarantined
      ? ({ kind: 'none', similarity: undefined } as const)
      : await findNearDuplicate(context, lesson, pending);
    if (near.kind === 'duplicate') {
      plans.push({ kind: 'support', target: near });
      continue;
    }
    const reviewPolicy = policies.get(prepared.namespace) ?? DEFAULT_REVIEW_POLICY;
    const draftBeside = (beside: NearDuplicate) =>
      draftNote(prepared, {
        ...{ caller, at, embedded: vectors, mergeCandidate: candidateOf(beside), reviewPolicy },
        ...(beside.kind === 'opposite' && { reverses: beside.impact }),
      });
    const draft = draftBeside(near);
    planned.add(prepared.id);
    if (draft.insert.note.status !== 'PENDING') {
      plans.push(insertPlan(draft, lesson, near));
      if (draft.insert.note.status === 'ACTIVE') pending.push(lesson);
      continue;
    }
    const others = await othersThatWait(context, waiting, lesson);
    const beside = near.kind === 'none' ? findNearDuplicateIn(context, lesson, others) : near;
    plans.push(
      beside.kind === 'none'
        ? insertPlan(draft, lesson, near)
        : insertPlan(draftBeside(beside), lesson, beside),
    );
    others.push({ ...lesson, waiting: true });
  }
  return plans;
}

function insertPlan(draft: NoteDraft, lesson: NewLesson, near: NearDuplicate): Plan {
  const { similarity, kind } = near;
  return { kind: 'insert', ...draft, lesson, similarity, contradicts: kind === 'opposite' };
}

/** Read once a chunk and task type; what the chunk adds goes to its end. */
async function othersThatWait(
  context: WriteContext,
  held: Map<string, NewLesson[]>,
  { namespace, taskType }: NewLesson,
): Promise<NewLesson[]> {
  const key = JSON.stringify([namespace, taskType]);
  const others = held.get(key) ?? [...(await readWaitingLessons(context, namespace, taskType))];
  held.set(key, others);
  return others;
}
