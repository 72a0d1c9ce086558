import { createAnswers } from '../evaluation/answers/answer-runs.js';
import { createCalibrator } from '../evaluation/calibration/calibrate-namespace.js';
import { createEvaluations } from '../evaluation/golden-versions.js';
import { readSweeps } from '../evaluation/sweep/sweep-runs.js';
import { createNoteCommands } from '../notes/create-note-commands.js';
import { createReviewCommands } from '../notes/create-review-commands.js';
import { embedMissing } from '../notes/embed-missing.js';
import { createNoteEmbedder } from '../notes/embed-notes.js';
import { KeyedMutex } from '../notes/keyed-mutex.js';
import type { SimilarityLimits, WritePolicy } from '../notes/note-deps.js';
import { createNoteQueries } from '../notes/note-queries.js';
import type { Clock } from '../ports/clock.js';
import type { Evaluations } from '../ports/evaluations.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';
import type { TokenCounters } from '../ports/token-counter.js';
import type { NoteCommands, NoteQueries, RetrievalQueries, UseCases } from '../ports/use-cases.js';
import type { Calibrations } from '../retrieval/calibrations.js';
import { CandidateVectors } from '../retrieval/candidate-vectors.js';
import type { FollowerOptions } from '../retrieval/follow-store.js';
import { createIndexFollower } from '../retrieval/follow-store.js';
import { decodeCentre } from '../retrieval/late-interaction.js';
import { NamespaceCentres } from '../retrieval/namespace-centres.js';
import type { OutcomeCounter } from '../retrieval/outcome-counter.js';
import { RecentVectors } from '../retrieval/recent-vectors.js';
import type { LateInteraction } from '../retrieval/rerank-candidates.js';
import { createRetrievalQueries } from '../retrieval/retrieval-queries.js';
import type { RetrieveDeps } from '../retrieval/retrieve.js';
import { createScoreModel, lexicalShareOf } from '../retrieval/score-model.js';
import type { SnapshotState } from '../retrieval/snapshot-keeper.js';
import { fillIndexes } from './fill-indexes.js';
import { followStore } from './follow-changes.js';
import { type Engines, readOrderClassifier, scoreFitOf } from './installation.js';
import { sampleTuningQueries } from './load-sample.js';

/** What all models of one process share. */
export interface SharedParts {
  readonly store: Store;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly calibrations: Calibrations;
  readonly outcomes: OutcomeCounter;
  readonly tokenCounters: TokenCounters;
  readonly withholdShare: number | undefined;
  readonly policy: Omit<Partial<WritePolicy>, keyof SimilarityLimits>;
  /** Whether telephone numbers are redacted, too. */
  readonly phones: boolean | undefined;
  /** Whether the indexes are filled and follow the store. */
  readonly follow: boolean;
  /** Whether snapshots of the vector index are written as well as read. */
  readonly writeSnapshots: boolean;
}

/**
 * Everything of a process that hangs on one embedding model: its indexes, what follows the store into them, and the use cases
 * over them. While the model is being changed, two stand beside each other and share nothing but the store.
 */
export interface ModelGeneration {
  readonly engines: Engines;
  readonly retrieveDeps: RetrieveDeps;
  readonly centres: NamespaceCentres;
  readonly commands: NoteCommands;
  readonly review: UseCases['review'];
  readonly notes: NoteQueries;
  readonly retrieval: RetrievalQueries;
  /** Without trials: what measures the ranking. */
  readonly measured: RetrievalQueries;
  readonly evaluations: Evaluations;
  readonly catchUp: () => Promise<void>;
  snapshotState(): SnapshotState | undefined;
  /** Stops following; leaves the engines to whoever opened them. */
  close(): Promise<void>;
}

/** Fills the indexes and follows the store. */
export async function createModelGeneration(
  shared: SharedParts,
  engines: Engines,
  onChange: FollowerOptions['onChange'],
): Promise<ModelGeneration> {
  const { logger, clock, calibrations, outcomes, tokenCounters, withholdShare, phones, follow } = shared;
  const { embedder, vectorIndex, lexicalIndex } = engines;
  const modelId = embedder.model.id;
  // Nothing in here can meet another model's vectors.
  const store: Store = follow
    ? { ...shared.store, notes: shared.store.notes.forModel(modelId) }
    : shared.store;
  const centres = new NamespaceCentres(modelId, embedder.model.dimensions);
  const recentVectors = new RecentVectors(store.notes);
  const vectors = new CandidateVectors(vectorIndex, modelId, recentVectors);
  const embed = createNoteEmbedder(embedder);
  const follower = createIndexFollower({
    store: store.notes,
    vectorIndex,
    lexicalIndex,
    modelId,
    centres,
    recentVectors,
    embedMissing: (notes) => embedMissing(store.notes, embed, notes, 'interactive'),
    onErased: async () => {
      // What cannot be removed must not keep the index from following; the next save writes over it.
      await engines.snapshots
        ?.discard()
        .catch((error: unknown) => logger.error({ error }, 'snapshot could not be removed after an erasure'));
    },
    onChange,
  });
  const catchUp = follow ? () => follower.catchUp() : async () => undefined;
  const keeper = follow ? await fillIndexes(store, engines, follower, logger) : undefined;
  const stopFollowing = follow ? await followStore(store, follower, logger) : async () => undefined;
  if (shared.writeSnapshots) keeper?.start();
  const scoreFit = scoreFitOf(engines);
  const retrieveDeps: RetrieveDeps = {
    store,
    embedder,
    vectorIndex,
    lexicalIndex,
    follower,
    scoreModel: createScoreModel(modelId, engines.fittedScore),
    lexicalShare: lexicalShareOf(modelId, engines.fittedScore),
    reranker: engines.reranker,
    lateInteraction: lateInteractionOf(engines, { centres, vectors }),
    outcomes,
    withholdShare,
    clock,
    phones,
    calibrations,
    scoreFit,
  };
  const classifier = readOrderClassifier();
  const policy = { ...engines.similarities, ...shared.policy };
  const { screenModel } = engines;
  const writeDeps = {
    ...{ store, embedder, vectorIndex, clock, catchUp, logger, policy, phones },
    ...{ classifier, screenModel, vectors, locks: new KeyedMutex() },
  };
  const measured = createRetrievalQueries({ ...retrieveDeps, withholdShare: 0, tokenCounters });
  return {
    engines,
    retrieveDeps,
    centres,
    commands: createNoteCommands(writeDeps),
    review: createReviewCommands(writeDeps),
    notes: createNoteQueries({ store, embedder, vectorIndex }),
    retrieval: createRetrievalQueries({ ...retrieveDeps, tokenCounters }),
    measured,
    evaluations: {
      ...createEvaluations({ store, clock, phones }),
      ...createAnswers({ store, clock, phones }),
      sweeps: (namespace, first) => readSweeps(store.settings, namespace, first),
      ...createCalibrator({
        store,
        retrieval: measured,
        calibrations,
        clock,
        scoreFit,
        fittedOn: scoreFit === null ? () => new Set() : sampleTuningQueries,
      }),
    },
    catchUp,
    snapshotState: () => keeper?.state,
    async close() {
      await stopFollowing();
      if (shared.writeSnapshots) await keeper?.close();
    },
  };
}

/** Where it was not switched off, and fitted on vectors of the model in use. */
function lateInteractionOf(
  engines: Engines,
  parts: Pick<LateInteraction, 'centres' | 'vectors'>,
): LateInteraction | undefined {
  const { fittedScore, embedder } = engines;
  const fit = fittedScore?.lateInteraction;
  if (!engines.lateInteraction || fit === undefined) return undefined;
  if (fittedScore?.embeddingModel !== embedder.model.id) return undefined;
  return { fit, prior: decodeCentre(fit), ...parts };
}
