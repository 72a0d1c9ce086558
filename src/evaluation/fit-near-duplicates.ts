import type { SimilarityLimits } from '../notes/note-deps.js';
import { kindOfPair, type MeasuredPair, ofLessons } from './duplicates-report.js';

/** Share of the same lessons in other words that are proposed: what is missed stands twice, until somebody sees it. */
const PROPOSED = 0.97;
/** Share of other lessons of the field that may be proposed at most; goes before the share above where a model tells them apart badly. */
const NEEDLESS = 0.5;
/** Share of opposite lessons that are held: the others are proposed, which a reviewer sees, too. */
const HELD = 0.9;
/** How far below the limit that would do for the labelled pairs proposals begin: those are few. Makes .60 of all-MiniLM-L6-v2. */
const PROPOSAL_MARGIN = 0.08;
/**
 * How far from the nearest pair of other lessons towards identity merges begin: nobody looks at them, so what the labelled pairs do
 * not show, a margin must. Two fifths make .92 of all-MiniLM-L6-v2, the limit that the project set out with.
 */
const MERGE_MARGIN = 0.4;

/**
 * Limits of one embedding model, from labelled pairs whose cosines it gave: as high as they may be to see what they are for, each
 * with a margin on its safe side, and merges so that no pair of other lessons, other facts or opposites is merged. Margins are
 * shares of the distance to identity, so that they fit models whose cosines all lie close together. Pairs that differ in their
 * corrections only bound the merges: their lessons are equal in any model.
 *
 * `pairs` of every relation. Errors: a TypeError where a relation has none.
 */
export function fitNearDuplicates(pairs: readonly MeasuredPair[]): SimilarityLimits {
  const of = (...relations: readonly MeasuredPair['relation'][]) => {
    const found = ofLessons(pairs).filter(({ relation }) => relations.includes(relation));
    if (found.length === 0) throw new TypeError(`Expected pairs of ${relations.join(', ')}, received none`);
    return found;
  };
  const seen = highestThatSees(PROPOSED, of('same', 'paraphrase'));
  const others = of('different').map(({ cosine }) => cosine);
  const sparing = lowestThatSpares(1 - NEEDLESS, others);
  const proposalSimilarity = Math.max(sparing, rounded(seen - PROPOSAL_MARGIN * (1 - seen)));
  const contradictionSimilarity = Math.max(proposalSimilarity, highestThatSees(HELD, of('opposite')));
  const nearest = Math.max(...others);
  const withMargin = rounded(nearest + MERGE_MARGIN * (1 - nearest));
  const wronglyMerged = pairs
    .filter(({ relation }) => relation !== 'same' && relation !== 'paraphrase')
    .filter((pair) => kindOfPair(pair, { ...NEVER, duplicateSimilarity: -1 }) === 'duplicate')
    .map(({ cosine }) => rounded(cosine + 0.01));
  const duplicateSimilarity = Math.max(contradictionSimilarity, withMargin, ...wronglyMerged);
  return { duplicateSimilarity, contradictionSimilarity, proposalSimilarity };
}

const NEVER: SimilarityLimits = {
  duplicateSimilarity: Number.POSITIVE_INFINITY,
  contradictionSimilarity: Number.POSITIVE_INFINITY,
  proposalSimilarity: Number.POSITIVE_INFINITY,
};

/** Two decimals: the pairs say no more, and the limits are read by people. */
const rounded = (value: number): number => Number(Math.min(1, value).toFixed(2));

/** The highest limit from which at least `share` of the pairs lie. */
function highestThatSees(share: number, pairs: readonly MeasuredPair[]): number {
  const cosines = pairs.map(({ cosine }) => cosine).sort((a, b) => b - a);
  const last = cosines[Math.ceil(share * cosines.length) - 1] ?? -1;
  return Number((Math.floor(last * 100) / 100).toFixed(2));
}

/** The lowest limit below which at least `share` of the cosines lie. */
function lowestThatSpares(share: number, cosines: readonly number[]): number {
  const last = cosines.toSorted((a, b) => a - b)[Math.ceil(share * cosines.length) - 1] ?? 1;
  return rounded(Math.floor(last * 100) / 100 + 0.01);
}
