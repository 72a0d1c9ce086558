import { createTokenCounters } from '../adapters/tokens/create-token-counters.js';
import type { Config } from '../config/config.js';
import { createCalibrator } from '../evaluation/calibration/calibrate-namespace.js';
import { createEvaluations } from '../evaluation/golden-versions.js';

import { createKeyCommands } from '../guard/key-commands.js';
import { calibrationHandler } from '../jobs/calibration.js';
import { compactionHandler, RECEIPT_DAYS } from '../jobs/compaction.js';
import { backfillHandler, reembedHandler } from '../jobs/embed-stored-notes.js';
import { erasureHandler } from '../jobs/erasure.js';
import { evaluationHandler } from '../jobs/evaluation.js';
import { createJobCommands } from '../jobs/job-commands.js';
import { JobRunner } from '../jobs/job-runner.js';
import { keyRotationHandler } from '../jobs/key-rotation.js';
import { stalenessSweepHandler } from '../jobs/staleness-sweep.js';
import { createNoteCommands } from '../notes/create-note-commands.js';
import { createReviewCommands } from '../notes/create-review-commands.js';
import { DEFAULT_WRITE_POLICY } from '../notes/note-deps.js';
import { InProcessNoteFeed } from '../notes/note-feed.js';
import { createNoteQueries } from '../notes/note-queries.js';
import { systemClock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';
import type { Evaluations, Stats, UseCases } from '../ports/use-cases.js';
import { createCalibrations } from '../retrieval/calibrations.js';
import { createIndexFollower, type IndexFollower } from '../retrieval/follow-store.js';
import { decodeCentre } from '../retrieval/late-interaction.js';
import { NamespaceCentres } from '../retrieval/namespace-centres.js';
import { OutcomeCounter } from '../retrieval/outcome-counter.js';
import { type LateInteraction, rerankModelOf } from '../retrieval/rerank-candidates.js';
import { createRetrievalQueries } from '../retrieval/retrieval-queries.js';
import type { RetrieveDeps } from '../retrieval/retrieve.js';
import { createScoreModel } from '../retrieval/score-model.js';
import type { SnapshotState } from '../retrieval/snapshot-keeper.js';
import { fillIndexes } from './fill-indexes.js';
import { type Engines, readOrderClassifier, scoreFitOf } from './installation.js';
import { sampleTuningQueries } from './load-sample.js';

/** How often versions are compared with the store, in case a change was missed; a scan of 100,000 versions takes about 0.5 s. */
const RESYNC_MS = 10 * 60_000;

const DAY_MS = 86_400_000;

export interface AppParts {
  readonly store: Store;
  readonly engines: Engines;
  readonly logger: Logger;
  readonly settings?: Partial<Pick<Config, 'harmLimit' | 'withholdShare' | 'jobLeaseMs'>>;
  /** Whether this process takes queued jobs. */
  readonly runJobs: boolean;
  /** Whether this process writes snapshots of the vector index: servers do, commands only read them. Default false. */
  readonly writeSnapshots?: boolean;
  /** Whether the indexes are filled and follow the store; commands that only touch the store do without. Default true. */
  readonly follow?: boolean;
}

export interface App {
  readonly useCases: UseCases;
  /** What the read path works with: for evaluation and fitting. */
  readonly retrieveDeps: RetrieveDeps;
  /** Means of the namespaces' vectors: for fitting. */
  readonly centres: NamespaceCentres;
  /** What became of the vector index's snapshot; undefined where there are none. */
  snapshotState(): SnapshotState | undefined;
  /** Loads what the first prompt would wait half a second for; blocks meanwhile, so call it before traffic comes. */
  warmUp(): void;
  /** Idempotent; flushes counts, stops jobs and following. Leaves store and engines to whoever opened them. */
  close(): Promise<void>;
}

/** Wires use cases over opened parts, fills the indexes and follows the store. */
export async function createApp(parts: AppParts): Promise<App> {
  const { store, engines, logger, runJobs, follow = true, writeSnapshots = false, settings = {} } = parts;
  const { embedder, vectorIndex, lexicalIndex } = engines;
  const clock = systemClock;
  const feed = new InProcessNoteFeed();
  const repaired = await store.notes.repair();
  if (repaired > 0) logger.warn({ repaired }, 'writes that a crash had cut off were completed');
  const centres = new NamespaceCentres(embedder.model.id, embedder.model.dimensions);
  const follower = createIndexFollower({
    store: store.notes,
    vectorIndex,
    lexicalIndex,
    modelId: embedder.model.id,
    centres,
    onChange: (note) => feed.publish(note),
  });
  const catchUp = follow ? () => follower.catchUp() : async () => undefined;
  const keeper = follow ? await fillIndexes(store, engines, follower, logger) : undefined;
  const stopFollowing = follow ? await startFollowing(store, follower, logger) : async () => undefined;
  if (writeSnapshots) keeper?.start();

  const outcomes = new OutcomeCounter(store.notes, logger);
  const scoreModel = createScoreModel(embedder.model.id, engines.fittedScore);
  const calibrations = createCalibrations(store.settings, clock);
  const scoreFit = scoreFitOf(engines);
  const retrieveDeps: RetrieveDeps = {
    store,
    embedder,
    vectorIndex,
    lexicalIndex,
    follower,
    scoreModel,
    reranker: engines.reranker,
    lateInteraction: lateInteractionOf(engines, centres),
    outcomes,
    withholdShare: settings.withholdShare,
    clock,
    calibrations,
    scoreFit,
  };
  const tokenCounters = createTokenCounters();
  const retrieval = createRetrievalQueries({ ...retrieveDeps, tokenCounters });
  const { harmLimit = DEFAULT_WRITE_POLICY.harmLimit } = settings;
  const policy = { harmLimit };
  const classifier = readOrderClassifier();
  const writeDeps = { store, embedder, vectorIndex, clock, catchUp, logger, policy, classifier };
  const commands = createNoteCommands(writeDeps);
  const review = createReviewCommands(writeDeps);
  // Nothing is withheld from what measures the ranking.
  const measured = createRetrievalQueries({ ...retrieveDeps, withholdShare: 0, tokenCounters });
  const evaluations: Evaluations = {
    ...createEvaluations({ store, clock }),
    ...createCalibrator({
      store,
      retrieval: measured,
      calibrations,
      clock,
      scoreFit,
      fittedOn: scoreFit === null ? () => new Set() : sampleTuningQueries,
    }),
  };
  const embedJob = { notes: store.notes, embedder, clock, catchUp };
  const runner = new JobRunner({
    jobs: store.jobs,
    clock,
    logger,
    leaseMs: settings.jobLeaseMs,
    handlers: {
      BACKFILL: backfillHandler(embedJob),
      REEMBED: reembedHandler(embedJob),
      STALENESS_SWEEP: stalenessSweepHandler({ notes: store.notes, jobs: store.jobs, review, clock }),
      COMPACTION: compactionHandler({ store, vectorIndex, clock }),
      EVALUATION: evaluationHandler({ store, retrieval: measured }),
      CALIBRATION: calibrationHandler(evaluations),
      ERASURE: erasureHandler(commands),
      KEY_ROTATION: keyRotationHandler({ store }),
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
    notes: createNoteQueries({ store, embedder, vectorIndex }),
    retrieval,
    jobs: createJobCommands({ jobs: store.jobs, audit: store.audit, clock, ring }),
    keys: createKeyCommands({ keys: store.keys, audit: store.audit, clock }),
    feed,
    evaluations,
    stats: async (scope) => ({
      ...(await stats(store, engines, scope, (clock.nowMs() - startedMs) / 1_000)),
      rerankModel: rerankModelOf(retrieveDeps),
    }),
    async ready() {
      await store.ping();
    },
  };
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    feed.close();
    await runner.close();
    await stopFollowing();
    if (writeSnapshots) await keeper?.close();
    await outcomes.flush();
  };
  return {
    useCases,
    retrieveDeps,
    centres,
    snapshotState: () => keeper?.state,
    warmUp: () => void tokenCounters.get().count('warm'),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Applies changes to the filled indexes as they come; resolves with what ends it. */
async function startFollowing(
  store: Store,
  follower: IndexFollower,
  logger: Logger,
): Promise<() => Promise<void>> {
  const unwatch = await store.notes.watch(() => {
    follower
      .catchUp()
      .catch((error: unknown) =>
        logger.warn({ error }, 'index could not follow the store; it will try again'),
      );
  });
  // Another process may have written between the fill and the watch, and a doorbell rings for later writes only.
  await follower.catchUp();
  const mend = async (): Promise<void> => {
    await store.notes.repair();
    await follower.resync();
    await store.receipts.prune(new Date(systemClock.nowMs() - RECEIPT_DAYS * DAY_MS).toISOString());
  };
  const resync = setInterval(() => {
    mend().catch((error: unknown) => logger.warn({ error }, 'index could not be compared with the store'));
  }, RESYNC_MS).unref();
  return async () => {
    clearInterval(resync);
    await unwatch();
    // What is being applied must be done before engines and store are closed.
    await follower.catchUp().catch(() => undefined);
  };
}

/** Where it was not switched off, and fitted on vectors of the model in use. */
function lateInteractionOf(engines: Engines, centres: NamespaceCentres): LateInteraction | undefined {
  const { fittedScore, embedder } = engines;
  const fit = fittedScore?.lateInteraction;
  if (!engines.lateInteraction || fit === undefined) return undefined;
  if (fittedScore?.embeddingModel !== embedder.model.id) return undefined;
  return { fit, prior: decodeCentre(fit), centres };
}

async function stats(
  store: Store,
  { embedder, vectorIndex }: Engines,
  scope: Parameters<UseCases['stats']>[0],
  uptimeSeconds: number,
): Promise<Stats> {
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
    store: store.description,
    cacheHitRate: lookups === 0 ? undefined : cacheHits / lookups,
    truncatedTexts,
    uptimeSeconds,
    ...(scope === 'all' ? { vectorIndex: vectorIndex.stats() } : {}),
  };
}
