import type { NoteId, NoteVectors } from '../domain/note.js';
import {
  ANSWER_FEATURES,
  type AnswerContext,
  type AnswerFeatures,
  answerFeatures,
  CANDIDATE_FEATURES,
  type RankedCandidate,
  rankFeatures,
} from '../retrieval/answer-features.js';
import {
  type CandidateWeights,
  encodeCentre,
  type LateInteractionFit,
  rankCandidates,
  sigmoid,
} from '../retrieval/late-interaction.js';
import { lateInteractionInput } from '../retrieval/rerank-candidates.js';
import { featuresById, scoreCandidates } from '../retrieval/score-candidates.js';
import type { ScoreModel } from '../retrieval/score-model.js';
import { fitConditional } from './fit-conditional.js';
import { fitStandardised } from './fit-logistic.js';
import { type LabelledQuery, roundWeight } from './fit-score.js';
import { pickThreshold } from './pick-threshold.js';

export interface LateInteractionFitOptions {
  readonly scoreModel: ScoreModel;
  readonly notes: {
    getVectors(namespace: string, ids: readonly NoteId[]): Promise<ReadonlyMap<NoteId, NoteVectors>>;
  };
  /** Mean of the sample's rows. */
  readonly centre: Float32Array;
}

/** One golden query as late interaction sees it. */
export interface PreparedQuery {
  readonly id: string;
  readonly answerable: boolean;
  readonly query: Float32Array;
  readonly candidates: readonly RankedCandidate[];
  readonly applies: readonly boolean[];
  readonly context: AnswerContext;
}

/** What the answer to one query looks like as a whole. */
export interface LabelledAnswer {
  readonly features: AnswerFeatures;
  readonly answerable: boolean;
}

/** On scaled features. Cross-validated at 1, 3, 10, 20: AUC .879, .879, .879, .875. */
const ANSWER_L2 = 5;
const CANDIDATE_L2 = 1;

/** What late interaction works with, for every query that has candidates. */
export async function prepareQueries(
  queries: readonly LabelledQuery[],
  { scoreModel, notes, centre }: LateInteractionFitOptions,
): Promise<readonly PreparedQuery[]> {
  const prepared: PreparedQuery[] = [];
  for (const { id, request, embedding, terms, answerable, candidates: labelled } of queries) {
    const candidates = scoreCandidates(labelled, scoreModel);
    if (candidates.length === 0) continue;
    const right = new Set(labelled.filter(({ applies }) => applies).map(({ note }) => note.id));
    const input = { request, embedding, terms, candidates, features: featuresById(labelled) };
    const { ranked, context } = await lateInteractionInput(notes, centre, input);
    const applies = candidates.map(({ note }) => right.has(note.id));
    prepared.push({ id, answerable, query: embedding.vector, candidates: ranked, applies, context });
  }
  return prepared;
}

/** Fits both sets of weights and the threshold. */
export function fitLateInteraction(
  queries: readonly PreparedQuery[],
  centre: Float32Array,
): LateInteractionFit {
  const candidate = fitCandidates(queries);
  const answer = fitAnswers(queries.flatMap((query) => answersOf(candidate, query)));
  const judged = queries.map((query) => ({
    answerable: query.answerable,
    top: sigmoid(answerLogit(answer, answerOf(candidate, query))),
  }));
  return { candidate, answer, threshold: roundWeight(pickThreshold(judged)), centre: encodeCentre(centre) };
}

/** How the candidates of one query compare. */
export function fitCandidates(queries: readonly PreparedQuery[]): CandidateWeights {
  const choices = queries
    .filter(({ applies }) => applies.some(Boolean) && !applies.every(Boolean))
    .map(({ candidates, applies, query }) => ({
      rows: candidates.map((candidate) => rowOf(CANDIDATE_FEATURES, rankFeatures(candidate, query))),
      chosen: applies,
    }));
  return named(CANDIDATE_FEATURES, fitConditional(choices, { l2: CANDIDATE_L2 }));
}

/** Whether the first candidate applies. `without` leaves a feature out, to see what it brings. */
export function fitAnswers(
  answers: readonly LabelledAnswer[],
  without?: (typeof ANSWER_FEATURES)[number],
): LateInteractionFit['answer'] {
  const rows = answers.map(({ features }) =>
    rowOf(ANSWER_FEATURES, without === undefined ? features : { ...features, [without]: 0 }),
  );
  const labels = answers.map(({ answerable }) => Number(answerable));
  const [bias = 0, ...fitted] = fitStandardised(rows, labels, { l2: ANSWER_L2 });
  return { bias: roundWeight(bias), weights: named(ANSWER_FEATURES, fitted) };
}

/**
 * The answer to a query and, for an answerable one, a second: the same with its right notes taken away, an unanswerable query of the
 * very same length and style.
 */
export function answersOf(weights: CandidateWeights, query: PreparedQuery): readonly LabelledAnswer[] {
  const own = { features: answerOf(weights, query), answerable: query.answerable };
  const bereft = bereave(query);
  if (bereft === undefined) return [own];
  return [own, { features: answerOf(weights, bereft), answerable: false }];
}

/** Log-odds that the first candidate applies. */
export function answerLogit(answer: LateInteractionFit['answer'], features: AnswerFeatures): number {
  return ANSWER_FEATURES.reduce((sum, name) => sum + answer.weights[name] * features[name], answer.bias);
}

/** The query without its right notes; undefined where there is none to take away, or none would be left. */
function bereave(query: PreparedQuery): PreparedQuery | undefined {
  const wrong = query.candidates.filter((_, index) => query.applies[index] !== true);
  if (!query.answerable || wrong.length === 0) return undefined;
  return { ...query, candidates: wrong, applies: wrong.map(() => false) };
}

function answerOf(weights: CandidateWeights, { candidates, query, context }: PreparedQuery): AnswerFeatures {
  const ranked = rankCandidates(weights, candidates, query);
  return answerFeatures(
    ranked.flatMap(({ index }) => candidates[index] ?? []),
    context,
  );
}

function rowOf<Name extends string>(
  names: readonly Name[],
  features: Readonly<Record<Name, number>>,
): number[] {
  return names.map((name) => features[name]);
}

function named<Name extends string>(
  names: readonly Name[],
  weights: readonly number[],
): Record<Name, number> {
  return Object.fromEntries(names.map((name, index) => [name, roundWeight(weights[index] ?? 0)])) as Record<
    Name,
    number
  >;
}
