import { createHash } from 'node:crypto';
import type { Caller } from '../../domain/api-key.js';
import type { ScoreOrigin } from '../../domain/calibration.js';
import { ErrataError } from '../../domain/errors.js';
import type { Risk } from '../../domain/retrieval.js';
import type { RetrievalQueries } from '../../ports/use-cases.js';
import { type GoldenQuery, halfOf } from '../golden-set.js';
import type { JudgedScore } from './probability-mapping.js';

/** A golden query with the scores of its candidates, best first. */
export interface ScoredQuery {
  readonly taskType: string | undefined;
  readonly fit: boolean;
  readonly expected: number;
  /** Threshold that was in force. */
  readonly threshold: number;
  readonly candidates: readonly JudgedScore[];
}

export interface CollectedScores {
  readonly origin: Omit<ScoreOrigin, 'scoreFit'>;
  readonly queries: readonly ScoredQuery[];
}

export interface CollectOptions {
  readonly retrieval: Pick<RetrievalQueries, 'retrieve'>;
  readonly caller: Caller;
  readonly namespace: string;
  readonly queries: readonly SplitQuery[];
  readonly risk: Risk;
  readonly resolve: (key: string) => string | undefined;
  readonly onQuery?: (() => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks every query. Errors: `MODEL_UNAVAILABLE` where answers of one run come from different models, as they do when a reranker fails
 * now and then: their scores cannot be put together.
 */
export async function collectScores(options: CollectOptions): Promise<CollectedScores> {
  const { retrieval, caller, namespace, queries, risk, resolve, signal } = options;
  const collected: ScoredQuery[] = [];
  let origin: CollectedScores['origin'] | undefined;
  for (const { query, fit } of queries) {
    const answer = await retrieval.retrieve(
      caller,
      { namespace, query: query.query, taskType: query.taskType, attributes: query.attributes, risk },
      signal === undefined ? {} : { signal },
    );
    const expected = new Set(query.expected.map(({ key }) => resolve(key) ?? key));
    if (answer.candidates.length > 0) {
      const found = {
        embeddingModel: answer.embeddingModel,
        rerankModel: answer.rerankModel ?? null,
        scoreScale: answer.scoreScale,
      };
      origin ??= found;
      if (JSON.stringify(found) !== JSON.stringify(origin)) {
        throw new ErrataError(
          'MODEL_UNAVAILABLE',
          'Expected one reranker for all golden queries, received answers of several: see degraded',
        );
      }
    }
    collected.push({
      taskType: query.taskType,
      fit,
      expected: expected.size,
      threshold: answer.threshold,
      candidates: answer.candidates.map(({ note, score }) => ({ score, expected: expected.has(note.id) })),
    });
    await options.onQuery?.();
  }
  if (origin === undefined) {
    throw new ErrataError('INVALID_INPUT', 'Expected golden queries with candidates, received none', {
      details: { field: 'golden' },
    });
  }
  return { origin, queries: collected };
}

/** A query and whether it may be fitted on; the others are held out. */
export interface SplitQuery {
  readonly query: GoldenQuery;
  readonly fit: boolean;
}

/**
 * Leaves out queries that the score itself was fitted on, since no promise could rest on them. Where there are such, the rest is halved
 * by another coin, as all of it may be one half of the usual one.
 */
export function splitQueries(
  queries: readonly GoldenQuery[],
  fittedOn: ReadonlySet<string>,
): readonly SplitQuery[] {
  const rest = queries.filter(({ query }) => !fittedOn.has(query));
  const usual = rest.length === queries.length;
  return rest.map((query) => ({ query, fit: (usual ? halfOf(query) : secondCoin(query.id)) === 'tune' }));
}

/** Independent of `halfOf`: the second byte of the same hash. */
function secondCoin(id: string): 'tune' | 'test' {
  const [, second = 0] = createHash('sha256').update(id).digest();
  return second % 2 === 0 ? 'tune' : 'test';
}
