import type { OrderClassifier } from '../guard/order-classifier.js';
import type { Clock } from '../ports/clock.js';
import type { Embedder } from '../ports/embedder.js';
import type { Logger } from '../ports/logger.js';
import type { NoteStore, Store } from '../ports/note-store.js';
import type { TextClassifier } from '../ports/text-classifier.js';
import type { VectorIndex } from '../ports/vector-index.js';
import type { KeyedMutex } from './keyed-mutex.js';

/** Cosines of two lessons from which something is done about them. What a cosine means differs from model to model. */
export interface SimilarityLimits {
  /** From here on they are merged, where they also say the same in the same words. */
  readonly duplicateSimilarity: number;
  /** From here on lessons of opposite polarity are a contradiction: the newer one waits for a reviewer. */
  readonly contradictionSimilarity: number;
  /** From here on a lesson in other words is proposed for a merge; it goes live meanwhile. */
  readonly proposalSimilarity: number;
}

/** Operating points of the write path. */
export interface WritePolicy extends SimilarityLimits {
  /** How many neighbours are looked at: more than a handful of near-identical active lessons would be a fault itself. */
  readonly neighbours: number;
  /** Notes that are embedded, judged and written together: 128 make one embedder call of 256 texts. */
  readonly chunkSize: number;
  /** Lower 95% bound of the share of harmful verdicts beyond which a note goes back to a reviewer. */
  readonly harmLimit: number;
  /** Compare-and-set attempts before `VERSION_CONFLICT` goes to the caller. Each lost one means that someone else won. */
  readonly attempts: number;
}

/**
 * For a model that no labelled pairs were tried on: nothing is merged beyond the same text, nothing waits for a contradiction, and
 * what is very near is proposed, which costs a reviewer a look. Some models put unrelated lessons at .8 (E5), hence so high.
 */
export const UNFITTED_SIMILARITIES: SimilarityLimits = {
  duplicateSimilarity: Number.POSITIVE_INFINITY,
  contradictionSimilarity: Number.POSITIVE_INFINITY,
  proposalSimilarity: 0.92,
};

/** Similarities come with the model, from `calibration/MODEL.json`. */
export const DEFAULT_WRITE_POLICY: WritePolicy = {
  ...UNFITTED_SIMILARITIES,
  neighbours: 16,
  chunkSize: 128,
  // One harmful verdict of one (bound .21) is an accident, two of two (.34) are not; nor are six of ten (.31).
  harmLimit: 0.25,
  attempts: 64,
};

export interface NoteCommandDeps {
  readonly store: Store;
  readonly embedder: Embedder;
  readonly vectorIndex: VectorIndex;
  /** Where neighbours' vectors are read. Default: the store. */
  readonly vectors?: Pick<NoteStore, 'getVectors'> | undefined;
  readonly clock: Clock;
  /** The trained signal of the injection screen; without it only the rules judge. */
  readonly classifier?: OrderClassifier | undefined;
  /** A further signal of the screen, asked about what the others let pass. */
  readonly screenModel?: TextClassifier | undefined;
  /** Whether phone numbers are redacted too; off by default, since many numbers look like one. */
  readonly phones?: boolean | undefined;
  /** Brings this process's indexes up to the store's newest revision. */
  readonly catchUp: () => Promise<void>;
  readonly policy?: Partial<WritePolicy> | undefined;
  readonly logger?: Logger | undefined;
  /** Shared by submissions and reviews, so that of an approval and a submission of the same the later one sees the earlier. */
  readonly locks?: KeyedMutex | undefined;
}

/** What every use case of the write path works with. */
export interface WriteContext extends Omit<NoteCommandDeps, 'policy' | 'logger' | 'locks'> {
  readonly policy: WritePolicy;
  readonly logger: Logger;
  /** One writer at a time a (namespace, task type), in this process. */
  readonly locks: KeyedMutex;
}
