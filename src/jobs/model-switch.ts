import { setTimeout as pause } from 'node:timers/promises';
import { ErrataError } from '../domain/errors.js';
import { isErased } from '../domain/lifecycle.js';
import type { NoteId } from '../domain/note.js';
import { heldModels, type ModelChoice, SERVED_MODEL, type ServedModel } from '../domain/served-model.js';
import type { ReportComparison } from '../evaluation/compare-reports.js';
import { embedMissing } from '../notes/embed-missing.js';
import { createNoteEmbedder } from '../notes/embed-notes.js';
import type { Clock } from '../ports/clock.js';
import type { Embedder } from '../ports/embedder.js';
import type { Store } from '../ports/note-store.js';
import type { RetrievalQueries } from '../ports/use-cases.js';
import { compareModels } from './compare-models.js';
import type { JobContext, JobHandler } from './job-handler.js';

/** Notes a batch: 256 texts. */
const BATCH = 128;
/** Share of MRR that a new model may surely not lose. */
export const DEFAULT_EPSILON = 0.02;
/** Processes look once a second which model is served; loading one takes some seconds more. */
const SETTLE_MS = 3_000;

/** A model beside the one that serves: nothing asks it but the comparison. */
export interface ShadowModel {
  readonly embedder: Embedder;
  /** Fills an index from the stored vectors and follows the store. */
  openIndex(): Promise<Pick<RetrievalQueries, 'retrieve'>>;
  /** Frees the index's memory; the embedder stays. */
  closeIndex(): Promise<void>;
  close(): Promise<void>;
}

export interface ModelSwitchDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** The model that this process answers with, and its read path without trials. */
  readonly serving: () => ModelChoice & { readonly retrieval: Pick<RetrievalQueries, 'retrieve'> };
  /** Errors: `UNKNOWN_MODEL`, `MODEL_NOT_INSTALLED`. */
  readonly openShadow: (name: string) => Promise<ShadowModel>;
  readonly settleMs?: number | undefined;
}

/**
 * Changes the model of the installation while it serves: embeds every note with option `model` beside the vectors in use,
 * catches up with what is written meanwhile, compares both on the saved golden sets, and writes the setting that every process
 * follows. Refused where the lower 95% bound of the difference in MRR is below −`epsilon`, or where no golden set is saved,
 * unless `force` is true. Option `rollback` goes back to the model before, without comparison.
 *
 * A killed run goes on: vectors that are stored are not made again, and one that was killed about the switch itself says what it
 * switched from, once, and is no second one (a rollback would go back again). Errors: `INVALID_INPUT`, `MODEL_REFUSED`, `UNKNOWN_MODEL`,
 * `MODEL_NOT_INSTALLED`.
 */
export function modelSwitchHandler(deps: ModelSwitchDeps): JobHandler {
  return async (context) => {
    const { options } = context.job;
    const served = await readServedModel(deps.store);
    const rollback = options.rollback === 'true';
    const begun = readBegun(context.job.cursor);
    const name = begun?.name ?? (rollback ? served?.previous?.name : options.model);
    if (name === undefined || name === '') {
      const missing = rollback ? 'a model to go back to' : 'the option model';
      throw new ErrataError('INVALID_INPUT', `Expected ${missing} for MODEL_SWITCH, received none`);
    }
    const epsilon = readEpsilon(options.epsilon);
    const shadow = await deps.openShadow(name);
    try {
      return await run(deps, context, {
        name,
        shadow,
        served,
        begun,
        epsilon,
        unchecked: rollback || options.force === 'true',
      });
    } finally {
      await shadow.close();
    }
  };
}

/** A job's cursor from just before the switch on. */
interface Begun {
  readonly name: string;
  readonly from: ModelChoice;
  /** Absent: without comparison. */
  readonly comparison?: string | undefined;
}

interface Plan {
  readonly name: string;
  readonly shadow: ShadowModel;
  readonly served: ServedModel | undefined;
  /** What a run that was killed was about to write. */
  readonly begun: Begun | undefined;
  readonly epsilon: number;
  /** Whether a worse or unknown result does not matter. */
  readonly unchecked: boolean;
}

async function run(deps: ModelSwitchDeps, context: JobContext, plan: Plan): Promise<string> {
  const { store, serving, clock } = deps;
  const { name, shadow, served, begun } = plan;
  const { modelId: currentId, name: currentName, retrieval } = serving();
  const { id: modelId } = shadow.embedder.model;
  const current = served ?? { name: currentName, modelId: currentId };
  if (current.modelId === modelId) {
    // A killed run may have switched already: what follows the switch is done again.
    if (begun !== undefined) await recordSwitch(deps, context, begun, modelId);
    await finish(deps, context, shadow, modelId);
    return begun === undefined ? `${name} is the served model` : summary(begun);
  }
  await embedAll(deps, context, shadow.embedder);
  const comparison = plan.unchecked ? undefined : await compare(deps, context, plan, retrieval);
  // This process will fill one of its own as soon as it sees the switch.
  await shadow.closeIndex();
  await embedAll(deps, context, shadow.embedder);
  const from: ModelChoice = { name: current.name, modelId: current.modelId };
  const next: ServedModel = {
    name,
    modelId,
    previous: from,
    earlier: served === undefined ? [] : heldModels(served).filter((held) => held.modelId !== modelId),
    switchedAt: clock.now(),
  };
  const beginning: Begun = {
    name,
    from,
    ...(comparison === undefined ? {} : { comparison: describe(comparison) }),
  };
  await context.checkpoint({ message: `switching to ${name}`, cursor: JSON.stringify(beginning) });
  await store.settings.put(SERVED_MODEL, JSON.stringify(next));
  await recordSwitch(deps, context, beginning, modelId);
  await finish(deps, context, shadow, modelId);
  return summary(beginning);
}

/** Once a job, by the event's id. */
async function recordSwitch(
  { store, clock }: ModelSwitchDeps,
  { job }: JobContext,
  { from, comparison }: Begun,
  modelId: string,
): Promise<void> {
  await store.audit.append({
    id: `model-switched:${job.id}`,
    at: clock.now(),
    actor: `job:${job.kind}`,
    origin: { via: 'JOB' as const },
    action: 'model-switched',
    reason: comparison ?? 'without comparison',
    changes: [`embeddingModel: ${from.modelId} → ${modelId}`],
  });
}

function summary({ name, from, comparison }: Begun): string {
  return `switched from ${from.name} to ${name}${comparison === undefined ? '' : `: ${comparison}`}`;
}

function readBegun(cursor: string | undefined): Begun | undefined {
  return cursor === undefined ? undefined : (JSON.parse(cursor) as Begun);
}

async function compare(
  deps: ModelSwitchDeps,
  context: JobContext,
  { name, shadow, epsilon }: Plan,
  retrieval: Pick<RetrievalQueries, 'retrieve'>,
): Promise<ReportComparison> {
  const comparison = await compareModels(deps.store, {
    before: retrieval,
    after: await shadow.openIndex(),
    onProgress: (done, total) => context.checkpoint({ message: `comparing: ${done} of ${total} queries` }),
  });
  const mrr = comparison && measureOf(comparison);
  if (comparison === undefined || mrr === undefined) {
    throw new ErrataError(
      'MODEL_REFUSED',
      'Expected a saved golden set with answerable queries to compare on, received none; save one or give force',
    );
  }
  if (mrr.difference.low < -epsilon) {
    throw new ErrataError(
      'MODEL_REFUSED',
      `Expected ${name} to lose surely less than ${epsilon} of MRR, received ${describe(comparison)}; give force to switch anyway`,
    );
  }
  return comparison;
}

/** Whoever learns of the model late writes the old one's vectors: those notes are embedded, too. Then notes name the model. */
async function finish(
  deps: ModelSwitchDeps,
  context: JobContext,
  { embedder }: ShadowModel,
  modelId: string,
): Promise<void> {
  do {
    await pause(deps.settleMs ?? SETTLE_MS, undefined, { signal: context.signal });
  } while ((await embedAll(deps, context, embedder)) > 0);
  for (let after: NoteId | undefined; ; ) {
    after = await deps.store.notes.adoptModel(modelId, after, BATCH * 4);
    await context.checkpoint({});
    if (after === undefined) return;
  }
}

/** Embeds until a pass over all notes finds none without vectors of the model; returns how many it embedded. */
async function embedAll(
  { store }: ModelSwitchDeps,
  { checkpoint }: JobContext,
  embedder: Embedder,
): Promise<number> {
  const embed = createNoteEmbedder(embedder);
  const { id } = embedder.model;
  let done = 0;
  for (;;) {
    const before = done;
    for (let after: NoteId | undefined; ; ) {
      const batch = await store.notes.scanWithoutModel(id, undefined, after, BATCH);
      const last = batch.at(-1);
      if (last === undefined) break;
      const live = batch.filter((note) => !isErased(note));
      done += (await embedMissing(store.notes, embed, live, 'bulk')).length;
      after = last.id;
      await checkpoint({ done, message: `${done} notes embedded with ${embedder.model.name}` });
    }
    if (done === before) return done;
  }
}

export async function readServedModel(store: Pick<Store, 'settings'>): Promise<ServedModel | undefined> {
  const json = await store.settings.get(SERVED_MODEL);
  return json === undefined ? undefined : (JSON.parse(json) as ServedModel);
}

const measureOf = (comparison: ReportComparison) => comparison.measures.find(({ name }) => name === 'mrr');

function describe(comparison: ReportComparison): string {
  const mrr = measureOf(comparison);
  if (mrr === undefined) return 'nothing to compare';
  const { before, after, difference, pairs } = mrr;
  const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
  return `MRR ${before.toFixed(3)} → ${after.toFixed(3)}, difference ${signed(after - before)} (95% ${signed(difference.low)} … ${signed(difference.high)}) over ${pairs} queries`;
}

function readEpsilon(text: string | undefined): number {
  const epsilon = text === undefined ? DEFAULT_EPSILON : Number(text);
  if (Number.isFinite(epsilon) && epsilon >= 0 && epsilon <= 1) return epsilon;
  throw new ErrataError('INVALID_INPUT', 'Expected a number between 0 and 1 for epsilon, received another');
}
