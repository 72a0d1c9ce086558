import { z } from 'zod';
import { lessonText } from '../domain/note.js';
import { type Share, wilson } from '../domain/wilson.js';
import { relate } from '../notes/find-near-duplicate.js';
import { type SimilarityLimits, UNFITTED_SIMILARITIES } from '../notes/note-deps.js';
import type { Embedder } from '../ports/embedder.js';
import { HALVES, type Half, type LabelledSet, labelledFields, parseLabelledSet } from './labelled-set.js';

const RELATIONS = ['same', 'paraphrase', 'different-facts', 'opposite', 'different'] as const;
type Relation = (typeof RELATIONS)[number];

const pairSchema = z.strictObject({
  ...labelledFields,
  relation: z.enum(RELATIONS),
  a: z.string().min(1),
  b: z.string().min(1),
  /** Of the two notes; none: equal ones. */
  corrections: z.tuple([z.string(), z.string()]).optional(),
  wrongAnswers: z.tuple([z.string(), z.string()]).optional(),
});

export type LabelledPair = z.infer<typeof pairSchema>;

/** What a pair of cosine thresholds does to the labelled pairs of one half. */
export interface OperatingPoint {
  readonly threshold: number;
  /** Threshold as the one for automatic merges: pairs that are not the same lesson and would be merged. */
  readonly falseMerges: Share;
  /** Same lesson in nearly the same words, merged. */
  readonly merged: Share;
  /** Threshold as the one for proposals: the same lesson in other words, merged or proposed. */
  readonly proposed: Share;
  /** Other lessons of the same field, proposed needlessly. */
  readonly falseProposals: Share;
  /** Another number, version, date or identifier in the lesson: never to be proposed. */
  readonly factsProposed: Share;
}

export interface DuplicatesReport {
  readonly setDigest: string;
  readonly pairs: number;
  readonly embeddingModel: string;
  /** The model's own limits. */
  readonly policy: Readonly<Record<'merge' | 'contradiction' | 'proposal', number | 'never'>>;
  /** Pairs of opposite lessons that they make wait for a reviewer, by half. */
  readonly contradictionsHeld: Readonly<Record<Half, Share>>;
  /** What becomes of pairs whose lessons are equal or nearly so, while their corrections are compared, too; by half. */
  readonly corrections: Readonly<Record<Half, CorrectionShares>>;
  readonly points: Readonly<Record<Half, readonly OperatingPoint[]>>;
}

/** At the model's own limits. */
export interface CorrectionShares {
  /** Opposite corrections that are put before a reviewer as a contradiction. */
  readonly opposed: Share;
  /** Those, and those that are proposed for a merge: nothing of it is merged, and a reviewer sees it. */
  readonly seen: Share;
  /** Corrections that agree, or lessons that are others, called a contradiction. */
  readonly falseAlarms: Share;
  /** Opposite ones, other facts and other lessons, merged. */
  readonly falseMerges: Share;
}

const THRESHOLDS = [0.5, 0.55, 0.6, 0.62, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.95] as const;
const BATCH = 64;
/** Any will do: both lessons of a pair carry the same. */
const TASK_TYPE = 'review';

export interface MeasuredPair extends LabelledPair {
  readonly cosine: number;
}

/** Errors: `INVALID_FILE`. */
export function parseLabelledPairs(jsonl: string, name: string): LabelledSet<LabelledPair> {
  return parseLabelledSet(jsonl, name, pairSchema);
}

/** Embeds every pair and asks the write path's own judgement at each threshold and at the model's. Errors: the embedder's. */
export async function reportDuplicates(
  { entries, digest }: LabelledSet<LabelledPair>,
  embedder: Embedder,
  limits: SimilarityLimits = UNFITTED_SIMILARITIES,
): Promise<DuplicatesReport> {
  const measured = await measurePairs(entries, embedder);
  const inHalf = (half: Half) => measured.filter((pair) => pair.half === half);
  const perHalf = <T>(value: (pairs: readonly MeasuredPair[]) => T): Record<Half, T> => {
    const [tune, heldOut] = HALVES;
    return { [tune]: value(inHalf(tune)), [heldOut]: value(inHalf(heldOut)) };
  };
  const { duplicateSimilarity, contradictionSimilarity, proposalSimilarity } = limits;
  const thresholds = [...new Set([...THRESHOLDS, duplicateSimilarity, proposalSimilarity])]
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  return {
    setDigest: digest,
    pairs: entries.length,
    embeddingModel: embedder.model.id,
    policy: {
      merge: orNever(duplicateSimilarity),
      contradiction: orNever(contradictionSimilarity),
      proposal: orNever(proposalSimilarity),
    },
    contradictionsHeld: perHalf((pairs) =>
      share(ofLessons(of(pairs, 'opposite')), (pair) => kindOfPair(pair, limits) === 'opposite'),
    ),
    corrections: perHalf((pairs) => correctionShares(pairs, limits)),
    points: perHalf((pairs) => thresholds.map((threshold) => operatingPoint(pairs, threshold))),
  };
}

function correctionShares(pairs: readonly MeasuredPair[], limits: SimilarityLimits): CorrectionShares {
  const corrected = pairs.filter(({ corrections }) => corrections !== undefined);
  const opposite = of(corrected, 'opposite');
  const kindIs = (kind: string) => (pair: MeasuredPair) => kindOfPair(pair, limits) === kind;
  const shown = (pair: MeasuredPair) => kindIs('opposite')(pair) || kindIs('proposal')(pair);
  return {
    opposed: share(opposite, kindIs('opposite')),
    seen: share(opposite, shown),
    falseAlarms: share(of(corrected, 'same', 'paraphrase', 'different'), kindIs('opposite')),
    falseMerges: share(of(corrected, 'different-facts', 'opposite', 'different'), kindIs('duplicate')),
  };
}

/** Pairs that say all they say in their lessons. */
export function ofLessons(pairs: readonly MeasuredPair[]): readonly MeasuredPair[] {
  return pairs.filter(({ corrections }) => corrections === undefined);
}

/** What the write path makes of every pair at a model's limits. */
export function judgePairs(
  pairs: readonly MeasuredPair[],
  limits: SimilarityLimits,
): readonly (MeasuredPair & { readonly kind: string })[] {
  return pairs.map((pair) => ({ ...pair, kind: kindOfPair(pair, limits) }));
}

/** JSON has no infinity. */
const orNever = (limit: number): number | 'never' => (Number.isFinite(limit) ? limit : 'never');

function operatingPoint(pairs: readonly MeasuredPair[], threshold: number): OperatingPoint {
  const never = Number.POSITIVE_INFINITY;
  const merging = {
    duplicateSimilarity: threshold,
    contradictionSimilarity: never,
    proposalSimilarity: never,
  };
  const proposing = {
    duplicateSimilarity: never,
    contradictionSimilarity: never,
    proposalSimilarity: threshold,
  };
  const isMerged = (pair: MeasuredPair) => kindOfPair(pair, merging) === 'duplicate';
  const isSeen = (pair: MeasuredPair) => kindOfPair(pair, proposing) !== 'none';
  return {
    threshold,
    falseMerges: share(of(pairs, 'different-facts', 'opposite', 'different'), isMerged),
    merged: share(of(pairs, 'same'), isMerged),
    proposed: share(of(pairs, 'same', 'paraphrase'), isSeen),
    falseProposals: share(of(pairs, 'different'), isSeen),
    factsProposed: share(ofLessons(of(pairs, 'different-facts')), isSeen),
  };
}

/** What the write path makes of a pair. Pure. */
export function kindOfPair(pair: MeasuredPair, limits: SimilarityLimits): ReturnType<typeof relate> {
  const {
    a,
    b,
    cosine,
    corrections: [rightA, rightB] = ['', ''],
    wrongAnswers: [wrongA, wrongB] = ['', ''],
  } = pair;
  return relate(
    { lesson: a, correction: rightA, wrongAnswer: wrongA },
    { lesson: b, correction: rightB, wrongAnswer: wrongB },
    cosine,
    limits,
  );
}

function of(pairs: readonly MeasuredPair[], ...relations: readonly Relation[]): readonly MeasuredPair[] {
  return pairs.filter(({ relation }) => relations.includes(relation));
}

function share(pairs: readonly MeasuredPair[], holds: (pair: MeasuredPair) => boolean): Share {
  return wilson(pairs.filter(holds).length, pairs.length);
}

/** The cosine of each pair as the write path takes it. Errors: the embedder's. */
export async function measurePairs(
  pairs: readonly LabelledPair[],
  embedder: Embedder,
): Promise<readonly MeasuredPair[]> {
  const measured: MeasuredPair[] = [];
  for (let start = 0; start < pairs.length; start += BATCH) {
    const batch = pairs.slice(start, start + BATCH);
    const texts = batch.flatMap(({ a, b }) => [a, b]);
    const vectors = await embedder.embed(
      texts.map((lesson) => lessonText({ taskType: TASK_TYPE, lesson })),
      { kind: 'passage', priority: 'bulk' },
    );
    batch.forEach((pair, index) => {
      const [left, right] = [vectors[2 * index]?.vector, vectors[2 * index + 1]?.vector];
      if (left === undefined || right === undefined) {
        throw new TypeError('Expected one embedding a text from the embedder, received fewer');
      }
      measured.push({ ...pair, cosine: dot(left, right) });
    });
  }
  return measured;
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}
