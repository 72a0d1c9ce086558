import { z } from 'zod';
import { lessonText } from '../domain/note.js';
import { type Share, wilson } from '../domain/wilson.js';
import { relate } from '../notes/find-near-duplicate.js';
import { DEFAULT_WRITE_POLICY } from '../notes/note-deps.js';
import type { Embedder } from '../ports/embedder.js';
import { HALVES, type Half, type LabelledSet, labelledFields, parseLabelledSet } from './labelled-set.js';

const RELATIONS = ['same', 'paraphrase', 'different-facts', 'opposite', 'different'] as const;
type Relation = (typeof RELATIONS)[number];

const pairSchema = z.strictObject({
  ...labelledFields,
  relation: z.enum(RELATIONS),
  a: z.string().min(1),
  b: z.string().min(1),
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
  /** Other number, version, date or identifier: never to be proposed. */
  readonly factsProposed: Share;
}

export interface DuplicatesReport {
  readonly setDigest: string;
  readonly pairs: number;
  readonly embeddingModel: string;
  readonly policy: { readonly merge: number; readonly contradiction: number; readonly proposal: number };
  /** Pairs of opposite lessons that the default makes wait for a reviewer, by half. */
  readonly contradictionsHeld: Readonly<Record<Half, Share>>;
  readonly points: Readonly<Record<Half, readonly OperatingPoint[]>>;
}

const THRESHOLDS = [0.5, 0.55, 0.6, 0.62, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.95] as const;
const BATCH = 64;
/** Any will do: both lessons of a pair carry the same. */
const TASK_TYPE = 'review';

interface Measured extends LabelledPair {
  readonly cosine: number;
}

/** Errors: `INVALID_FILE`. */
export function parseLabelledPairs(jsonl: string, name: string): LabelledSet<LabelledPair> {
  return parseLabelledSet(jsonl, name, pairSchema);
}

/** Embeds every pair and asks the write path's own judgement at each threshold. Errors: the embedder's. */
export async function reportDuplicates(
  { entries, digest }: LabelledSet<LabelledPair>,
  embedder: Embedder,
): Promise<DuplicatesReport> {
  const measured = await measure(entries, embedder);
  const inHalf = (half: Half) => measured.filter((pair) => pair.half === half);
  const perHalf = <T>(value: (pairs: readonly Measured[]) => T): Record<Half, T> => {
    const [tune, heldOut] = HALVES;
    return { [tune]: value(inHalf(tune)), [heldOut]: value(inHalf(heldOut)) };
  };
  const { duplicateSimilarity, contradictionSimilarity, proposalSimilarity } = DEFAULT_WRITE_POLICY;
  return {
    setDigest: digest,
    pairs: entries.length,
    embeddingModel: embedder.model.id,
    policy: {
      merge: duplicateSimilarity,
      contradiction: contradictionSimilarity,
      proposal: proposalSimilarity,
    },
    contradictionsHeld: perHalf((pairs) =>
      share(of(pairs, 'opposite'), (pair) => kindOf(pair, DEFAULT_WRITE_POLICY) === 'opposite'),
    ),
    points: perHalf((pairs) => THRESHOLDS.map((threshold) => operatingPoint(pairs, threshold))),
  };
}

function operatingPoint(pairs: readonly Measured[], threshold: number): OperatingPoint {
  const merging = { ...DEFAULT_WRITE_POLICY, duplicateSimilarity: threshold, proposalSimilarity: 2 };
  const proposing = { ...DEFAULT_WRITE_POLICY, proposalSimilarity: threshold };
  const isMerged = (pair: Measured) => kindOf(pair, merging) === 'duplicate';
  const isSeen = (pair: Measured) => kindOf(pair, proposing) !== 'none';
  return {
    threshold,
    falseMerges: share(of(pairs, 'different-facts', 'opposite', 'different'), isMerged),
    merged: share(of(pairs, 'same'), isMerged),
    proposed: share(of(pairs, 'same', 'paraphrase'), isSeen),
    falseProposals: share(of(pairs, 'different'), isSeen),
    factsProposed: share(of(pairs, 'different-facts'), isSeen),
  };
}

function kindOf({ a, b, cosine }: Measured, policy: typeof DEFAULT_WRITE_POLICY): string {
  return relate({ lesson: a, correction: '' }, { lesson: b, correction: '' }, cosine, policy);
}

function of(pairs: readonly Measured[], ...relations: readonly Relation[]): readonly Measured[] {
  return pairs.filter(({ relation }) => relations.includes(relation));
}

function share(pairs: readonly Measured[], holds: (pair: Measured) => boolean): Share {
  return wilson(pairs.filter(holds).length, pairs.length);
}

async function measure(pairs: readonly LabelledPair[], embedder: Embedder): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
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
