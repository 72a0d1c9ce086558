import { requireGrant } from '../domain/access.js';
import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import type { CorrectionInput, SubmitResult } from '../ports/use-cases.js';
import { markContested } from './contest.js';
import type { EmbeddedNote, NoteEmbedder } from './embed-notes.js';
import { addSupport, mergeResubmission } from './merge-resubmission.js';
import type { WriteContext } from './note-deps.js';
import { type Plan, planChunk, storedNotes } from './plan-chunk.js';
import { type PreparedCorrection, prepareCorrection } from './prepare-correction.js';
import { reportNamedAnchors } from './report-named-anchors.js';
import { screenByModel } from './screen-by-model.js';
import { settleRaces } from './settle-races.js';

/** A correction that passed validation, or the error that refused it. */
export type Judged = PreparedCorrection | ErrataError;

/**
 * Validates, redacts and screens; never stores. Every entry is judged on its own.
 * Errors: `INVALID_INPUT` and `INPUT_TOO_LARGE` for the list itself; an entry's errors are returned in its place.
 */
export function judgeInputs(
  context: WriteContext,
  caller: Caller,
  inputs: readonly CorrectionInput[],
): readonly Judged[] {
  if (!Array.isArray(inputs)) {
    throw new ErrataError('INVALID_INPUT', 'Expected a list for inputs, received another value');
  }
  if (inputs.length > LIMITS.batchSize) {
    throw new ErrataError(
      'INPUT_TOO_LARGE',
      `Expected at most ${LIMITS.batchSize} corrections, received ${inputs.length}`,
      { details: { limit: LIMITS.batchSize } },
    );
  }
  const { classifier, phones } = context;
  const prepare = { now: context.clock.now(), classifier, phones };
  return inputs.map((input) => {
    try {
      const prepared = prepareCorrection(prepare, caller, input);
      requireGrant(caller, prepared.namespace);
      return prepared;
    } catch (error) {
      if (error instanceof ErrataError && error.category === 'user') {
        return error;
      }
      throw error;
    }
  });
}

/** What a refused entry of a batch gets. */
export function refusal(error: ErrataError): SubmitResult {
  const field = error.details.field;
  return {
    outcome: 'REFUSED',
    findings: [
      { rule: error.code, field: typeof field === 'string' ? field : 'correction', reason: error.message },
    ],
  };
}

/** Stores judged corrections in chunks of `policy.chunkSize`; results in order. A single submission is a batch of one. */
export async function storeCorrections(
  context: WriteContext,
  embed: NoteEmbedder,
  caller: Caller,
  corrections: readonly PreparedCorrection[],
): Promise<readonly SubmitResult[]> {
  const results: SubmitResult[] = [];
  for (let from = 0; from < corrections.length; from += context.policy.chunkSize) {
    const given = corrections.slice(from, from + context.policy.chunkSize);
    const { chunk, embedded } = await embedNew(context, embed, given, corrections.length);
    const keys = chunk.map(({ namespace, taskType }) => JSON.stringify([namespace, taskType]));
    results.push(...(await context.locks.run(keys, () => storeChunk(context, caller, chunk, embedded))));
  }
  return results;
}

/** Embeds outside the lock what is not stored yet, and asks the screening model about it: by far the longest parts. */
async function embedNew(
  context: WriteContext,
  embed: NoteEmbedder,
  chunk: readonly PreparedCorrection[],
  batchSize: number,
): Promise<{
  readonly chunk: readonly PreparedCorrection[];
  readonly embedded: ReadonlyMap<NoteId, EmbeddedNote>;
}> {
  const stored = await storedNotes(context, chunk);
  const missing = chunk.filter(({ id }) => !stored.has(id));
  const [embedded, screened] = await Promise.all([
    embed.embed(missing, batchSize === 1 ? 'interactive' : 'bulk'),
    screenByModel(context, missing),
  ]);
  // By entry and not by text: of two entries of one text each has its own source, dates and attributes, which may be doubtful.
  const judged = new Map(missing.map((prepared, index) => [prepared, screened[index]]));
  return { chunk: chunk.map((prepared) => judged.get(prepared) ?? prepared), embedded };
}

async function storeChunk(
  context: WriteContext,
  caller: Caller,
  chunk: readonly PreparedCorrection[],
  embedded: ReadonlyMap<NoteId, EmbeddedNote>,
): Promise<readonly SubmitResult[]> {
  const since = await context.store.notes.lastRevision();
  const plans = await planChunk(context, caller, chunk, embedded);
  const inserts = plans.flatMap((plan) => (plan.kind === 'insert' ? [plan.insert] : []));
  const outcomes = inserts.length === 0 ? [] : await context.store.notes.insert(inserts);
  const inserted = new Map(
    outcomes.flatMap(({ note }) => (note === undefined ? [] : [[note.id, note] as const])),
  );
  const results: SubmitResult[] = [];
  for (const [index, prepared] of chunk.entries()) {
    results.push(await carryOut({ context, caller, prepared, embedded, inserted }, plans[index]));
  }
  await context.catchUp();
  const settled = await settleRaces(context, caller, since, plans, results);
  return reportNamedAnchors(context, caller, chunk, settled);
}

interface CarryOut {
  readonly context: WriteContext;
  readonly caller: Caller;
  readonly prepared: PreparedCorrection;
  readonly embedded: ReadonlyMap<NoteId, EmbeddedNote>;
  readonly inserted: ReadonlyMap<NoteId, FeedbackNote>;
}

/** Inserts have been made in one go; what is left are merges, support, and inserts that another process won. */
async function carryOut(
  { context, caller, prepared, embedded, inserted }: CarryOut,
  plan: Plan | undefined,
): Promise<SubmitResult> {
  if (plan?.kind === 'support') {
    const supported = await addSupport(context, caller, prepared, plan.target);
    // Its target was deprecated a moment ago: judge again; that note is no candidate any more.
    const [judged] =
      supported === undefined ? await storeChunk(context, caller, [prepared], embedded) : [supported];
    if (judged !== undefined) {
      return judged;
    }
  }
  const note = plan?.kind === 'insert' ? inserted.get(prepared.id) : undefined;
  if (plan?.kind !== 'insert' || note === undefined) {
    return mergeResubmission(context, caller, prepared);
  }
  const { namespace, id, mergeCandidate } = note;
  const older = mergeCandidate?.noteId;
  const duplicateOf =
    older === undefined
      ? undefined
      : plan.contradicts
        ? await markContested(context, { caller, namespace, older, newer: id })
        : (inserted.get(older) ?? (await context.store.notes.get(namespace, older)));
  return {
    outcome: plan.outcome,
    note,
    duplicateOf,
    similarity: plan.similarity,
    findings: note.findings,
  };
}
