import { createTokenCounters } from '../adapters/tokens/create-token-counters.js';
import type { Config } from '../config/config.js';
import type { FeedbackNote } from '../domain/note.js';
import type { ModelChoice } from '../domain/served-model.js';
import { createKeyCommands } from '../guard/key-commands.js';
import { answersHandler } from '../jobs/answers.js';
import { calibrationHandler } from '../jobs/calibration.js';
import { compactionHandler } from '../jobs/compaction.js';
import { backfillHandler, type EmbedJobDeps, reembedHandler } from '../jobs/embed-stored-notes.js';
import { erasureHandler } from '../jobs/erasure.js';
import { evaluationHandler } from '../jobs/evaluation.js';
import { createJobCommands } from '../jobs/job-commands.js';
import type { JobHandler } from '../jobs/job-handler.js';
import { JobRunner } from '../jobs/job-runner.js';
import { keyRotationHandler } from '../jobs/key-rotation.js';
import { modelSwitchHandler } from '../jobs/model-switch.js';
import { stalenessSweepHandler } from '../jobs/staleness-sweep.js';
import { sweepHandler } from '../jobs/sweep.js';
import { vectorDropHandler } from '../jobs/vector-drop.js';
import { DEFAULT_WRITE_POLICY } from '../notes/note-deps.js';
import { InProcessNoteFeed } from '../notes/note-feed.js';
import { systemClock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';
import type { JobWatcher, RetrievalWatcher } from '../ports/telemetry.js';
import type { RetrievalQueries, Stats, UseCases } from '../ports/use-cases.js';
import { createCalibrations } from '../retrieval/calibrations.js';
import type { NamespaceCentres } from '../retrieval/namespace-centres.js';
import { OutcomeCounter } from '../retrieval/outcome-counter.js';
import { rerankModelOf } from '../retrieval/rerank-candidates.js';
import type { RetrieveDeps } from '../retrieval/retrieve.js';
import type { SnapshotState } from '../retrieval/snapshot-keeper.js';
import { watchRetrieval } from '../retrieval/watch-retrieval.js';
import { type AskChecker, noChecker } from './checker-of.js';
import { ModelFollower } from './follow-model.js';
import type { Engines } from './installation.js';
import { createModelGeneration, type SharedParts } from './model-generation.js';
import { ModelSlot } from './model-slot.js';
import { modelStates } from './model-states.js';
import { openShadowModel } from './open-shadow-model.js';
import { sweepSaved } from './sweep-namespace.js';

export interface AppParts {
  readonly store: Store;
  readonly engines: Engines;
  readonly logger: Logger;
  readonly settings?: Partial<
    Pick<Config, 'harmLimit' | 'withholdShare' | 'jobLeaseMs' | 'jobLosses' | 'redactPhones'>
  > & {
    readonly modelSettleMs?: number;
  };
  /** Opens another model by name, with indexes of its own. Absent: the process cannot change its model. */
  readonly openEngines?: ((name: string) => Promise<Engines>) | undefined;
  /** Asks the configured chat service. Absent: job ANSWERS is refused. */
  readonly askChecker?: AskChecker | undefined;
  /** Told of every answer that callers get. */
  readonly watchers?: readonly RetrievalWatcher[];
  /** Told of every job that ends here. */
  readonly jobWatchers?: readonly JobWatcher[];
  /** Share of answers whose recall is measured; only with watchers. */
  readonly recallShare?: number;
  /** Whether this process takes queued jobs. */
  readonly runJobs: boolean;
  /** Whether this process writes snapshots of the vector index: servers do, commands only read them. Default false. */
  readonly writeSnapshots?: boolean;
  /** Whether the indexes are filled and follow the store; commands that only touch the store do without. Default true. */
  readonly follow?: boolean;
}

export interface App {
  readonly useCases: UseCases;
  /** The read path without trials: what measures the ranking. */
  readonly measured: RetrievalQueries;
  /** Of the model that serves now. */
  readonly engines: Engines;
  /** What the read path works with: for evaluation and fitting. */
  readonly retrieveDeps: RetrieveDeps;
  /** Means of the namespaces' vectors: for fitting. */
  readonly centres: NamespaceCentres;
  /** What became of the vector index's snapshot; undefined where there are none. */
  snapshotState(): SnapshotState | undefined;
  /** Looks now whether the installation answers with another model, and resolves when this process does, too. */
  followModel(): Promise<void>;
  /** Loads what the first prompt would wait half a second for; blocks meanwhile, so call it before traffic comes. */
  warmUp(): void;
  /** Idempotent; flushes counts, stops jobs and following. Leaves store and engines to whoever opened them. */
  close(): Promise<void>;
}

/** Wires use cases over opened parts, fills the indexes and follows the store. */
export async function createApp(parts: AppParts): Promise<App> {
  const { store, engines, logger, runJobs, follow = true, settings = {}, openEngines } = parts;
  const { writeSnapshots = false } = parts;
  const clock = systemClock;
  const feed = new InProcessNoteFeed();
  const repaired = await store.notes.repair();
  if (repaired > 0) logger.warn({ repaired }, 'writes that a crash had cut off were completed');
  const outcomes = new OutcomeCounter(store.notes, logger);
  const tokenCounters = createTokenCounters();
  const { harmLimit = DEFAULT_WRITE_POLICY.harmLimit, withholdShare } = settings;
  const calibrations = createCalibrations(store.settings, clock);
  const shared: SharedParts = {
    store,
    logger,
    clock,
    calibrations,
    outcomes,
    tokenCounters,
    withholdShare,
    policy: { harmLimit },
    phones: settings.redactPhones,
    follow,
    writeSnapshots,
  };
  const publish = (note: FeedbackNote): void => feed.publish(note);
  const slot = new ModelSlot(await createModelGeneration(shared, engines, publish));
  const follower =
    openEngines === undefined || !follow
      ? undefined
      : new ModelFollower({
          store,
          slot,
          logger,
          openEngines,
          createGeneration: (opened) => createModelGeneration(shared, opened, publish),
        });
  follower?.start();

  const commands = slot.forward((generation) => generation.commands);
  const review = slot.forward((generation) => generation.review);
  const evaluations = slot.forward((generation) => generation.evaluations);
  const measured = slot.forward((generation) => generation.measured);
  const serving = () => slot.current.engines;
  const asked = slot.forward((generation) => generation.retrieval);
  const { watchers = [], recallShare = 0 } = parts;
  const retrieval = watchers.length === 0 ? asked : watchRetrieval(asked, { serving, watchers, recallShare });
  // Handlers are made for the model that serves when their job begins.
  const embedding = (make: (deps: EmbedJobDeps) => JobHandler): JobHandler => {
    return (context) => {
      const { engines: current, catchUp } = slot.current;
      return make({ notes: store.notes, embedder: current.embedder, clock, catchUp })(context);
    };
  };
  const runner = new JobRunner({
    jobs: store.jobs,
    clock,
    logger,
    leaseMs: settings.jobLeaseMs,
    maxLosses: settings.jobLosses,
    watchers: parts.jobWatchers,
    handlers: {
      BACKFILL: embedding(backfillHandler),
      REEMBED: embedding(reembedHandler),
      STALENESS_SWEEP: stalenessSweepHandler({ notes: store.notes, jobs: store.jobs, review, clock }),
      COMPACTION: (context) =>
        compactionHandler({ store, vectorIndex: serving().vectorIndex, clock })(context),
      EVALUATION: evaluationHandler({ store, retrieval: measured }),
      SWEEP: sweepHandler({ store, sweep: (request) => sweepSaved(slot.current.retrieveDeps, request) }),
      ANSWERS: answersHandler({
        ...{ store, clock },
        ask: (request) => (parts.askChecker ?? noChecker)(measured, request),
      }),
      CALIBRATION: calibrationHandler(evaluations),
      ERASURE: erasureHandler(commands),
      KEY_ROTATION: keyRotationHandler({ store }),
      MODEL_SWITCH: modelSwitchHandler({
        store,
        clock,
        serving: () => ({ ...servedChoice(serving()), retrieval: measured }),
        openShadow: (name) => openShadowModel(shared, openEngines, name),
        settleMs: settings.modelSettleMs,
      }),
      VECTOR_DROP: vectorDropHandler({ store, clock, serving: () => servedChoice(serving()) }),
    },
  });
  if (runJobs) runner.start();
  const ring = () => {
    if (runJobs) runner.ring();
  };
  const startedMs = clock.nowMs();
  const useCases: UseCases = {
    commands,
    review,
    notes: slot.forward((generation) => generation.notes),
    retrieval,
    jobs: createJobCommands({
      jobs: store.jobs,
      audit: store.audit,
      clock,
      ring,
      phones: settings.redactPhones,
    }),
    keys: createKeyCommands({ keys: store.keys, audit: store.audit, clock }),
    feed,
    evaluations,
    stats: async (scope) => ({
      ...(await stats(store, serving(), scope, (clock.nowMs() - startedMs) / 1_000)),
      rerankModel: rerankModelOf(slot.current.retrieveDeps),
    }),
    async ready() {
      await store.ping();
    },
  };
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    feed.close();
    await runner.close();
    await slot.current.close();
    await follower?.close();
    await outcomes.flush();
  };
  return {
    useCases,
    measured,
    get engines() {
      return slot.current.engines;
    },
    get retrieveDeps() {
      return slot.current.retrieveDeps;
    },
    get centres() {
      return slot.current.centres;
    },
    snapshotState: () => slot.current.snapshotState(),
    followModel: async () => follower?.look(),
    warmUp: () => void tokenCounters.get().count('warm'),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** By the name that opens it again, which a way back needs. */
function servedChoice({ embedder, openedAs }: Engines): ModelChoice {
  const { id, name } = embedder.model;
  return { modelId: id, name: openedAs ?? name };
}

async function stats(
  store: Store,
  engines: Engines,
  scope: Parameters<UseCases['stats']>[0],
  uptimeSeconds: number,
): Promise<Stats> {
  const { embedder, vectorIndex } = engines;
  const { cacheHits, cacheMisses, truncatedTexts } = embedder.stats();
  const lookups = cacheHits + cacheMisses;
  const indexed =
    scope === 'all'
      ? vectorIndex.count()
      : scope.reduce((sum, namespace) => sum + vectorIndex.count(namespace), 0);
  return {
    notes: await store.notes.count(scope, {}),
    byTaskType: await store.notes.statusCounts(scope),
    indexedVectors: indexed,
    embeddingModel: embedder.model.id,
    embeddingNotice: embedder.model.notice,
    store: store.description,
    cacheHitRate: lookups === 0 ? undefined : cacheHits / lookups,
    truncatedTexts,
    uptimeSeconds,
    ...(scope === 'all' ? { vectorIndex: vectorIndex.stats(), models: modelStates(engines) } : {}),
  };
}
