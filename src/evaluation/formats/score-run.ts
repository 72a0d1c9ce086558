import { ErrataError } from '../../domain/errors.js';
import { meanMetrics, measureQuery, type QueryMeasures, type RetrievalMetrics } from '../metrics.js';
import type { Judgements, Rankings } from './trec.js';

export interface RunScore {
  readonly byQuery: ReadonlyMap<string, QueryMeasures>;
  readonly mean: RetrievalMetrics;
}

/**
 * Our ranking measures over TREC files, as trec_eval takes them: queries that both files have; documents judged above 0 are relevant.
 * Errors: `INVALID_FILE` where the files share no query with a relevant document.
 */
export function scoreRun(judgements: Judgements, rankings: Rankings): RunScore {
  const byQuery = new Map<string, QueryMeasures>();
  for (const [query, ranking] of rankings) {
    const expected = new Map([...(judgements.get(query) ?? [])].filter(([, grade]) => grade > 0));
    if (expected.size > 0) byQuery.set(query, measureQuery({ ranking, answered: ranking, expected }));
  }
  if (byQuery.size === 0) {
    throw new ErrataError(
      'INVALID_FILE',
      'Expected a run and judgements that share queries, received two without any',
    );
  }
  return { byQuery, mean: meanMetrics([...byQuery.values()]) };
}
