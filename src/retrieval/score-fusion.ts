import type { NoteId } from '../domain/note.js';
import { type CosineScore, type FusionScore, fusionScore } from '../domain/scores.js';
import type { LexicalHit } from '../ports/lexical-index.js';

/**
 * What the best full-text hit adds to a cosine, the others in proportion to their BM25. Chosen on the sample's tuning half
 * (nDCG@10 at 0.05, 0.1, 0.2: .863, .879, .866; reciprocal ranks in equal parts: .805). `npm run bench -- quality` holds it
 * against both parts on two further collections. For all-MiniLM-L6-v2's cosines; `lexicalShareOf` has other models'.
 */
export const LEXICAL_SHARE = 0.1;
/** As many as are injected by default: what was found by its very identifiers is judged, however far its vector is. */
const KEPT_LEXICAL_HITS = 3;

export interface FusionInput {
  /** Best first. */
  readonly vectorIds: readonly NoteId[];
  /** Best first, BM25. */
  readonly lexical: readonly LexicalHit[];
  /** Of every note of both lists that has a vector. */
  readonly cosines: ReadonlyMap<NoteId, CosineScore>;
  /** At most so many candidates. */
  readonly k: number;
  /** Default `LEXICAL_SHARE`. */
  readonly lexicalShare?: number | undefined;
}

export interface FusedCandidate {
  readonly id: NoteId;
  readonly score: FusionScore;
  /** Rank in the list of vectors and in that of full text, 1 is best; undefined where the list lacks the id. */
  readonly vectorRank: number | undefined;
  readonly lexicalRank: number | undefined;
  /** BM25 relative to the best hit's, 0…1; 0 where the list lacks the id. */
  readonly lexicalShare: number;
}

/**
 * Cosine plus a share of BM25 relative to the best hit's, best first; ties fall by id, so that every run gives the same order.
 * A convex combination with BM25's theoretical minimum of 0, which keeps how much better a hit is; reciprocal ranks throw
 * that away (Bruch, Gai & Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023).
 */
export function fuseScores(input: FusionInput): readonly FusedCandidate[] {
  const { vectorIds, lexical, cosines, k, lexicalShare: weight = LEXICAL_SHARE } = input;
  const vectorRanks = new Map(vectorIds.map((id, index) => [id, index + 1]));
  const lexicalRanks = new Map(lexical.map(({ id }, index) => [id, index + 1]));
  const bestBm25 = lexical[0]?.score ?? 0;
  const bm25 = new Map(lexical.map(({ id, score }) => [id, bestBm25 > 0 ? score / bestBm25 : 0]));
  // A note that is not embedded yet must not fall behind for that: it stands where the list of vectors ends.
  const unknown = Math.min(...vectorIds.map((id) => cosines.get(id) ?? 0), 1);
  const all = [...new Set([...vectorRanks.keys(), ...lexicalRanks.keys()])].map((id) => {
    const lexicalShare = bm25.get(id) ?? 0;
    return {
      id,
      score: fusionScore((cosines.get(id) ?? unknown) + weight * lexicalShare),
      vectorRank: vectorRanks.get(id),
      lexicalRank: lexicalRanks.get(id),
      lexicalShare,
    };
  });
  all.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  return keepLexicalHits(all, k);
}

/** The first `k`; the best full-text hits take the last places where they would be cut off. */
function keepLexicalHits(sorted: readonly FusedCandidate[], k: number): readonly FusedCandidate[] {
  const kept = Math.min(KEPT_LEXICAL_HITS, Math.floor(k / 2));
  const isKept = ({ lexicalRank }: FusedCandidate) => lexicalRank !== undefined && lexicalRank <= kept;
  let others = k - sorted.filter(isKept).length;
  return sorted.filter((candidate) => {
    if (isKept(candidate)) return true;
    others -= 1;
    return others >= 0;
  });
}
