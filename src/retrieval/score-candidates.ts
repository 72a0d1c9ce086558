import { extractIdentifiers } from '../domain/identifiers.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import type { ScoredNote } from '../domain/retrieval.js';
import type { LexicalIndex } from '../ports/lexical-index.js';
import type { Candidates } from './find-candidates.js';
import {
  inverseDocumentFrequency,
  type MatchFeatures,
  matchFeatures,
  type NoteTerms,
  type QueryTerms,
} from './match-features.js';
import { namesIn } from './names.js';
import type { ScoreModel } from './score-model.js';
import { textTerms } from './text-terms.js';

/**
 * Notes that are imagined beside the namespace's own, one of them with the term: in a namespace of one note, its words would
 * otherwise weigh a fifth of those that it lacks, and every good answer would look bad.
 */
const PRIOR_NOTES = 50;
const PRIOR_NOTES_WITH_TERM = 1;

/** Terms of the query with their idf in the namespace; without statistics every term weighs the same. */
export async function queryTerms(
  lexicalIndex: LexicalIndex,
  namespace: string,
  query: string,
): Promise<QueryTerms> {
  const terms = textTerms(query);
  const statistics = await lexicalIndex.termStatistics(namespace, terms);
  const idf = new Map(
    terms.map((term) => [
      term,
      inverseDocumentFrequency(
        statistics.notes + PRIOR_NOTES,
        (statistics.notesWithTerm.get(term) ?? 0) + PRIOR_NOTES_WITH_TERM,
      ),
    ]),
  );
  return { terms, identifiers: extractIdentifiers(query), names: namesIn(query), idf };
}

export interface CandidateFeatures extends Omit<ScoredNote, 'score'> {
  readonly features: MatchFeatures;
}

/** By note object: a store that keeps notes in memory gives the same one out until the note changes, and both go together. */
const knownTerms = new WeakMap<FeedbackNote, NoteTerms>();

function termsOf(note: FeedbackNote): NoteTerms {
  const known = knownTerms.get(note);
  if (known !== undefined) return known;
  const text = noteText(note);
  const terms = {
    terms: new Set(textTerms(text)),
    identifiers: new Set(extractIdentifiers(text)),
    names: namesIn(text),
  };
  knownTerms.set(note, terms);
  return terms;
}

/** Features of the hydrated candidates, in fused order; what could not be hydrated is left out. */
export function candidateFeatures(
  candidates: Candidates,
  notes: ReadonlyMap<NoteId, FeedbackNote>,
  terms: QueryTerms,
): readonly CandidateFeatures[] {
  return candidates.fused.flatMap(({ id, vectorRank, lexicalRank, lexicalShare }): CandidateFeatures[] => {
    const note = notes.get(id);
    if (note === undefined) return [];
    const vectorScore = candidates.cosines.get(id);
    const features = matchFeatures(terms, termsOf(note), { cosine: vectorScore, lexicalShare });
    return [{ note, vectorScore, vectorRank, lexicalRank, features }];
  });
}

export function featuresById(candidates: readonly CandidateFeatures[]): ReadonlyMap<NoteId, MatchFeatures> {
  return new Map(candidates.map(({ note, features }) => [note.id, features]));
}

/** Scores candidates, best first; ties fall by id. */
export function scoreCandidates(
  candidates: readonly CandidateFeatures[],
  model: ScoreModel,
): readonly ScoredNote[] {
  return candidates
    .map(({ features, ...candidate }): ScoredNote => ({ ...candidate, score: model.score(features) }))
    .sort((a, b) => b.score - a.score || (a.note.id < b.note.id ? -1 : 1));
}

/** What a query's words and identifiers are looked for in. */
export function noteText(note: FeedbackNote): string {
  return [note.lesson, note.wrongAnswer, note.correction, ...Object.values(note.attributes)].join('\n');
}
