import type { NoteId } from '../domain/note.js';
import { type FusionScore, fusionScore } from '../domain/scores.js';

/** Cormack, Clarke & Büttcher (SIGIR 2009): 60 keeps one list's first place from drowning two middling ones. */
const RANK_CONSTANT = 60;

export interface RankedList {
  /** Best first, each id once. */
  readonly ids: readonly NoteId[];
  readonly weight: number;
}

export interface FusedCandidate {
  readonly id: NoteId;
  readonly score: FusionScore;
  /** Rank in each list, 1 is best; undefined where the list lacks the id. */
  readonly ranks: readonly (number | undefined)[];
}

/** Weighted sum of reciprocal ranks, best first; ties fall by id, so that every run gives the same order. */
export function fuseByReciprocalRank(lists: readonly RankedList[]): readonly FusedCandidate[] {
  const ranksById = new Map<NoteId, (number | undefined)[]>();
  lists.forEach((list, listIndex) => {
    list.ids.forEach((id, position) => {
      let ranks = ranksById.get(id);
      if (ranks === undefined) {
        ranks = lists.map(() => undefined);
        ranksById.set(id, ranks);
      }
      ranks[listIndex] = position + 1;
    });
  });
  const fused = [...ranksById].map(([id, ranks]) => ({ id, ranks, score: fusionScore(sum(lists, ranks)) }));
  return fused.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}

function sum(lists: readonly RankedList[], ranks: readonly (number | undefined)[]): number {
  let total = 0;
  lists.forEach((list, index) => {
    const rank = ranks[index];
    if (rank !== undefined) total += list.weight / (RANK_CONSTANT + rank);
  });
  return total;
}
