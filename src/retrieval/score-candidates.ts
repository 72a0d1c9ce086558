import { extractIdentifiers } from '../domain/identifiers.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import type { ScoredNote } from '../domain/retrieval.js';
import type { LexicalIndex } from '../ports/lexical-index.js';
import type { Candidates } from './find-candidates.js';
import { inverseDocumentFrequency, matchFeatures, type QueryTerms } from './match-features.js';
import type { ScoreModel } from './score-model.js';
import { textTerms } from './text-terms.js';

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
      inverseDocumentFrequency(statistics.notes, statistics.notesWithTerm.get(term) ?? 0),
    ]),
  );
  return { terms, identifiers: extractIdentifiers(query), idf };
}

/** Scores hydrated candidates, best first; ties fall by id. */
export function scoreCandidates(
  candidates: Candidates,
  notes: ReadonlyMap<NoteId, FeedbackNote>,
  terms: QueryTerms,
  model: ScoreModel,
): readonly ScoredNote[] {
  const scored = candidates.fused.flatMap(({ id, ranks: [vectorRank, lexicalRank] }): ScoredNote[] => {
    const note = notes.get(id);
    if (note === undefined) return [];
    const vectorScore = candidates.cosines.get(id);
    const text = noteText(note);
    const sets = { terms: new Set(textTerms(text)), identifiers: new Set(extractIdentifiers(text)) };
    const score = model.score(matchFeatures(terms, sets, vectorScore));
    return [{ note, score, vectorScore, vectorRank, lexicalRank }];
  });
  return scored.sort((a, b) => b.score - a.score || (a.note.id < b.note.id ? -1 : 1));
}

function noteText(note: FeedbackNote): string {
  return [note.lesson, note.wrongAnswer, note.correction, ...Object.values(note.attributes)].join('\n');
}
