import type { NoteId, NoteVectors } from '../domain/note.js';
import type { ScoredNote } from '../domain/retrieval.js';
import {
  type AnswerFeatures,
  answerLogit,
  encodeCentre,
  type LateInteractionFit,
  type LateInteractionWeights,
  sigmoid,
} from '../retrieval/late-interaction.js';
import { lateInteractionFeatures } from '../retrieval/rerank-candidates.js';
import { scoreCandidates } from '../retrieval/score-candidates.js';
import type { ScoreModel } from '../retrieval/score-model.js';
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

/** On standardised features; about 170 answers, three weights. */
const L2 = 3;

interface Answer {
  readonly features: AnswerFeatures;
  readonly answerable: boolean;
}

/**
 * Fits how far an answer as a whole can be trusted. Besides the queries themselves, every answerable one serves a second
 * time with its right notes taken away: an unanswerable query of the very same length and style.
 */
export async function fitLateInteraction(
  queries: readonly LabelledQuery[],
  options: LateInteractionFitOptions,
): Promise<LateInteractionFit> {
  const answers: Answer[] = [];
  for (const query of queries) {
    answers.push(...(await answersOf(query, options)));
  }
  const [bias = 0, top = 0, keywordCosine = 0, lessonCosine = 0] = fitStandardised(
    answers.map(({ features: { top, keywordCosine, lessonCosine } }) => [top, keywordCosine, lessonCosine]),
    answers.map(({ answerable }) => Number(answerable)),
    { l2: L2 },
  ).map(roundWeight);
  const weights: LateInteractionWeights = { bias, top, keywordCosine, lessonCosine };
  const judged = answers.map(({ features, answerable }) => ({
    answerable,
    top: sigmoid(answerLogit(weights, features)),
  }));
  return { weights, threshold: roundWeight(pickThreshold(judged)), centre: encodeCentre(options.centre) };
}

async function answersOf(query: LabelledQuery, options: LateInteractionFitOptions): Promise<Answer[]> {
  const scored = scoreCandidates(query.candidates, options.scoreModel);
  const right = new Set(query.candidates.filter(({ applies }) => applies).map(({ note }) => note.id));
  const all = await answerOf(query, scored, query.answerable, options);
  if (!query.answerable) return all;
  const without = scored.filter(({ note }) => !right.has(note.id));
  return [...all, ...(await answerOf(query, without, false, options))];
}

async function answerOf(
  { request, embedding, terms }: LabelledQuery,
  candidates: readonly ScoredNote[],
  answerable: boolean,
  { notes, centre }: LateInteractionFitOptions,
): Promise<Answer[]> {
  if (candidates.length === 0) return [];
  const input = { request, embedding, terms, candidates };
  return [{ features: await lateInteractionFeatures(notes, centre, input), answerable }];
}
