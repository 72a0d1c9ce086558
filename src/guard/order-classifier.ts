import { createHash } from 'node:crypto';
import { ErrataError } from '../domain/errors.js';
import { INTENTS } from './intents.js';
import { FEATURE_BITS, featureValue, orderFeatures } from './order-features.js';

/** `calibration/injection.json`: what `scripts/train-injection.mjs` writes. */
export interface OrderClassifierFile {
  readonly version: 1;
  /** log2 of the number of weights. */
  readonly bits: number;
  readonly bias: number;
  /** A weight is its int8 times this. */
  readonly scale: number;
  /** Log-odds from which a text is doubted. */
  readonly threshold: number;
  /** int8, base64. */
  readonly weights: string;
  /** SHA-256 of the weights. */
  readonly digest: string;
  /** Of the labelled texts and phrases, and what cross-validation measured: for people. */
  readonly trainedOn: Readonly<Record<string, unknown>>;
}

export interface OrderScore {
  /** Log-odds that the text gives orders to a model. */
  readonly logOdds: number;
  readonly doubted: boolean;
  /** For a reviewer: how sure, and what the text speaks of; none of its words. */
  readonly reason: string;
}

/** A linear model over hashed features: the trained signal beside the rules. */
export interface OrderClassifier {
  /** First 12 digits of the weights' digest: which model judged. */
  readonly id: string;
  /** The worst of a folded text as a whole and of its sentences, but for those that have been `judged` before. Linear in the text. */
  score(folded: string, judged?: ReadonlySet<string>): OrderScore;
}

/** The whole, and its parts where there are several. */
const BOUNDARIES = /(?<=[.!?;])\s+|(?<=[。！？])|\n+/u;
/** Shorter parts say nothing. */
const PART_LENGTH = 4;
const SHOWN_INTENTS = 4;

/** The text itself and its sentences: an order may stand in a long harmless text. */
export function partsOf(folded: string): readonly string[] {
  const parts = folded.split(BOUNDARIES).filter((part) => part.trim().length >= PART_LENGTH);
  return parts.length > 1 ? [folded, ...parts] : [folded];
}

/** Makes a classifier of weights, [2^bits] as they stand in the file. */
export function createOrderClassifier(
  { bias, scale, threshold, digest }: Omit<OrderClassifierFile, 'weights'>,
  weights: Int8Array,
): OrderClassifier {
  return {
    id: digest.slice(0, 12),
    score(folded, judged) {
      let best: { logOdds: number; intents: ReturnType<typeof orderFeatures>['intents'] } | undefined;
      for (const part of partsOf(folded)) {
        if (judged?.has(part) === true) continue;
        const { indices, intents } = orderFeatures(part);
        let sum = 0;
        for (const index of indices) sum += weights[index] ?? 0;
        const logOdds = bias + scale * sum * featureValue(indices.length);
        if (best === undefined || logOdds > best.logOdds) best = { logOdds, intents };
      }
      const { logOdds, intents } = best ?? { logOdds: bias, intents: [] };
      const labels = intents.slice(0, SHOWN_INTENTS).map((intent) => INTENTS[intent].label);
      const sure = Math.min(0.99, 1 / (1 + Math.exp(-logOdds))).toFixed(2);
      const about = labels.length === 0 ? '' : `: ${labels.join(', ')}`;
      return {
        logOdds,
        doubted: logOdds >= threshold,
        reason: `Reads like an order to a model (trained on labelled texts, ${sure})${about}`,
      };
    },
  };
}

/** Errors: `DIGEST_MISMATCH` for weights that are not the ones the file was written with, or of other features. */
export function parseOrderClassifier(json: string): OrderClassifier {
  const file = JSON.parse(json) as OrderClassifierFile;
  const bytes = Buffer.from(file.weights, 'base64');
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (digest !== file.digest || bytes.length !== 1 << FEATURE_BITS || file.bits !== FEATURE_BITS) {
    throw new ErrataError(
      'DIGEST_MISMATCH',
      'Expected the weights that the injection classifier was written with, received others',
    );
  }
  return createOrderClassifier(file, new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length));
}
