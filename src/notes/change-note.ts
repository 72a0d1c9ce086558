import type { Caller } from '../domain/api-key.js';
import { ErrataError, isErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { FeedbackNote, Instant, NoteId, NoteVectors } from '../domain/note.js';
import { isWaiting, type ReviewCause, type ReviewState } from '../domain/review.js';
import type { NoteWrite } from '../ports/note-store.js';
import { auditDraft } from './audit-changes.js';
import type { WriteContext } from './note-deps.js';
import { neededApprovals, openReview, readReviewPolicy } from './review-policy.js';

/** What a change makes of a note. */
export interface NoteChange {
  /** Fields that differ; `updatedAt` is set here. */
  readonly set: Partial<NoteWrite>;
  readonly action: string;
  readonly reason?: string | undefined;
  readonly vectors?: NoteVectors | null | undefined;
  /** Why a note begins to wait, where `set` makes it wait. */
  readonly cause?: ReviewCause | undefined;
  /** Approvals that it then needs at least, whatever the note's policy asks for. */
  readonly required?: number | undefined;
  /** Whose change it is that waits with the note, where it begins to wait: no reviewer of their own. */
  readonly coAuthor?: string | undefined;
}

export interface ChangeRequest {
  readonly caller: Caller;
  readonly namespace: string;
  readonly id: NoteId;
  /** Judges the note as it is now; undefined leaves it as it is. Called again after every lost race, so it must write nothing. */
  readonly change: (note: FeedbackNote) => NoteChange | undefined | Promise<NoteChange | undefined>;
}

/**
 * Reads, changes and writes a note by compare-and-set until it wins. Every lost attempt means that another writer won, so
 * that the loop needs no waiting.
 *
 * Errors: `NOTE_NOT_FOUND`; `VERSION_CONFLICT` after `policy.attempts`; whatever `change` throws.
 */
export async function changeNote(context: WriteContext, request: ChangeRequest): Promise<FeedbackNote> {
  const { store, clock, policy } = context;
  const { caller, namespace, id, change } = request;
  for (let attempt = 1; ; attempt += 1) {
    const before = await store.notes.get(namespace, id);
    if (before === undefined) {
      throw noteNotFound(1);
    }
    const wanted = await change(before);
    if (wanted === undefined) {
      return before;
    }
    const at = clock.now();
    const review = await reviewAfter(context, before, wanted, at);
    const note: NoteWrite = { ...withoutStoreFields(before), ...wanted.set, review, updatedAt: at };
    try {
      return await store.notes.update({
        note,
        expectedVersion: before.version,
        vectors: wanted.vectors,
        audit: auditDraft({ caller, at, action: wanted.action, reason: wanted.reason }, before, note),
      });
    } catch (error) {
      if (!isErrataError(error, 'VERSION_CONFLICT') || attempt >= policy.attempts) {
        throw error;
      }
    }
  }
}

/**
 * A note that begins to wait gets a due time and what its namespace asks for; one that stops waiting is waiting for nothing.
 * In one place, so that no way into the queue is without.
 */
async function reviewAfter(
  { store }: WriteContext,
  before: FeedbackNote,
  { set, cause, coAuthor, required = 0 }: NoteChange,
  at: Instant,
): Promise<ReviewState | undefined> {
  const status = set.status ?? before.status;
  if (!isWaiting(status)) return undefined;
  if (set.review !== undefined) return set.review;
  if (isWaiting(before.status)) return before.review;
  const policy = await readReviewPolicy(store, before.namespace);
  const after = { ...before, ...set };
  const need = neededApprovals(policy, after, { doubt: status === 'QUARANTINED' });
  const [submittedBy = '', ...others] = await bringersOf(store, before);
  const last = before.status === 'DEPRECATED' ? await lastReview(store, before) : undefined;
  const known = [...others, last?.submittedBy, ...(last?.coAuthors ?? []), coAuthor];
  const coAuthors = [...new Set(known)].filter(
    (name): name is string => name !== undefined && name !== submittedBy,
  );
  const why = cause ?? (before.status === 'DEPRECATED' ? 'restored' : 'demoted');
  return {
    ...openReview(policy, { required: Math.max(need.required, required), cause: why }, at, submittedBy),
    ...(coAuthors.length > 0 && { coAuthors }),
  };
}

/**
 * The keys that brought a note's text, its own submitter first: what a source says of an author anybody may write, so the first
 * audit events are asked. An edit's text is its editor's and, in part, that of whoever brought the note it took over from.
 */
async function bringersOf(
  { audit, notes }: WriteContext['store'],
  note: FeedbackNote,
): Promise<readonly string[]> {
  const actors: string[] = [];
  let wanted: readonly FeedbackNote[] = [note];
  const seen = new Set([note.id]);
  while (wanted.length > 0) {
    const events = await audit.getMany(wanted.map(({ id }) => `${id}:1`));
    actors.push(...events.map(({ actor }) => actor));
    // Superseded by its first version: an edit. Later ones are replacements, whose texts are none of its own.
    const lines = new Set(events.flatMap(({ changes }) => changes));
    const edited = wanted
      .flatMap(({ supersedes }) => supersedes)
      .filter((id) => !seen.has(id) && lines.has(`supersedes: none → ${id.slice(0, 12)}`));
    for (const id of edited) seen.add(id);
    wanted = edited.length === 0 ? [] : await notes.getMany(note.namespace, edited);
  }
  return actors.length > 0 ? [...new Set(actors)] : [note.sources[0]?.author ?? ''];
}

/** What a note that was taken out of the queue waited for: whose changes waited with it stays so when it comes back. */
async function lastReview(
  { versions }: WriteContext['store'],
  { namespace, id }: FeedbackNote,
): Promise<ReviewState | undefined> {
  const past = await versions.past(namespace, id, LIMITS.keptVersions);
  return past.find(({ review }) => review !== undefined)?.review;
}

/** A note as it is handed to the store. */
export function withoutStoreFields(note: FeedbackNote): NoteWrite {
  const { version: _version, embeddingModel: _embeddingModel, ...rest } = note;
  return rest;
}

export function noteNotFound(missing: number): ErrataError {
  return new ErrataError(
    'NOTE_NOT_FOUND',
    `Expected every note id to exist in the namespace, received ${missing} that ${missing === 1 ? 'does' : 'do'} not`,
    { details: { missing } },
  );
}
