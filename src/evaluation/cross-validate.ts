import { ANSWER_FEATURES } from '../retrieval/answer-features.js';
import { rankCandidates } from '../retrieval/late-interaction.js';
import {
  answerLogit,
  answersOf,
  fitAnswers,
  fitCandidates,
  type LabelledAnswer,
  type PreparedQuery,
} from './fit-late-interaction.js';
import { areaUnderCurve, injectedAtRecall } from './metrics.js';
import { mean } from './statistics/describe-sample.js';

export interface CrossValidated {
  /** Feature that was left out; `none`. */
  readonly without: string;
  readonly auc: number;
  readonly injectedAt80: number;
  readonly mrr: number;
}

const FOLDS = 10;

interface Fold {
  readonly fitted: readonly LabelledAnswer[];
  readonly heldOut: readonly LabelledAnswer[];
  /** Of the held out answerable queries: 1 / rank of the first right candidate. */
  readonly reciprocalRanks: readonly number[];
}

/** Late interaction on queries that it was not fitted on, as a whole and without each of the answer's features. */
export function crossValidate(queries: readonly PreparedQuery[]): readonly CrossValidated[] {
  const folds = Array.from({ length: FOLDS }, (_, fold) => makeFold(queries, fold));
  const mrr = mean(folds.flatMap(({ reciprocalRanks }) => reciprocalRanks));
  return [undefined, ...ANSWER_FEATURES].map((without) => {
    const judged = folds.flatMap(({ fitted, heldOut }) => {
      const answer = fitAnswers(fitted, without);
      return heldOut.map(({ features, answerable }) => ({
        answerable,
        logit: answerLogit(answer, without === undefined ? features : { ...features, [without]: 0 }),
      }));
    });
    const right = judged.filter(({ answerable }) => answerable).map(({ logit }) => logit);
    const wrong = judged.filter(({ answerable }) => !answerable).map(({ logit }) => logit);
    return {
      without: without ?? 'none',
      auc: areaUnderCurve(right, wrong),
      injectedAt80: injectedAtRecall(right, wrong, 0.8),
      mrr,
    };
  });
}

function makeFold(queries: readonly PreparedQuery[], fold: number): Fold {
  const fitted = queries.filter(({ id }) => foldOf(id) !== fold);
  const heldOut = queries.filter(({ id }) => foldOf(id) === fold);
  const weights = fitCandidates(fitted);
  return {
    fitted: fitted.flatMap((query) => answersOf(weights, query)),
    heldOut: heldOut.flatMap((query) => answersOf(weights, query).slice(0, 1)),
    reciprocalRanks: heldOut
      .filter(({ answerable }) => answerable)
      .map(({ candidates, applies, query }) => {
        const ranked = rankCandidates(weights, candidates, query);
        const rank = ranked.findIndex(({ index }) => applies[index] === true) + 1;
        return rank === 0 ? 0 : 1 / rank;
      }),
  };
}

/** By number: neighbours are kept together, since the sample's later queries were written in pairs. */
function foldOf(id: string): number {
  return Math.floor(Number(id.replace(/\D/g, '')) / 2) % FOLDS;
}
