import { ErrataError } from '../domain/errors.js';
import type { NoteId } from '../domain/note.js';
import type { CosineScore } from '../domain/scores.js';
import type { LexicalHit, LexicalIndex } from '../ports/lexical-index.js';
import type { VectorAnswer, VectorIndex } from '../ports/vector-index.js';
import type { ValidRequest } from './check-request.js';
import { describePlan } from './describe-plan.js';
import { type FusedCandidate, fuseScores } from './score-fusion.js';
import type { StageTimer } from './stage-timer.js';

export interface Candidates {
  /** At most candidateK, best fused score first. */
  readonly fused: readonly FusedCandidate[];
  readonly cosines: ReadonlyMap<NoteId, CosineScore>;
  readonly plan: string;
  readonly exhaustive: boolean;
  readonly degraded: readonly string[];
}

/** Vector and lexical candidates under the same filter, fused by score, with the exact cosine of each. */
export async function findCandidates(
  indexes: {
    readonly vectorIndex: VectorIndex;
    readonly lexicalIndex: LexicalIndex;
    readonly lexicalShare?: number | undefined;
  },
  request: ValidRequest,
  vector: Float32Array,
  timer: StageTimer,
  signal: AbortSignal | undefined,
): Promise<Candidates> {
  const { namespace, taskType, attributes, candidateK, efSearch, query } = request;
  const answer: VectorAnswer = await timer.run(
    'vector',
    () =>
      indexes.vectorIndex.search({
        namespace,
        taskType,
        attributes,
        vector,
        k: candidateK,
        efSearch,
        signal,
        explain: true,
      }),
    describePlan,
  );
  const degraded: string[] = [];
  let lexical: readonly LexicalHit[] = [];
  try {
    lexical = await timer.run(
      'lexical',
      () => indexes.lexicalIndex.search({ namespace, taskType, attributes, text: query, k: candidateK }),
      (hits) => String(hits.length),
    );
  } catch (error) {
    // Vectors alone still answer; the caller sees in `degraded` that text did not take part.
    const code = error instanceof ErrataError ? error.code : 'INTERNAL';
    timer.skip('lexical', `failed: ${code}`);
    degraded.push(`lexical: ${code}`);
  }
  const vectorIds = answer.hits.map((hit) => hit.id);
  const cosines = new Map(answer.hits.map((hit) => [hit.id, hit.score]));
  const byTextOnly = lexical.map(({ id }) => id).filter((id) => !cosines.has(id));
  if (byTextOnly.length > 0) {
    const scores = await indexes.vectorIndex.scores({ namespace, vector, ids: byTextOnly });
    for (const [id, score] of scores) cosines.set(id, score);
  }
  const fused = fuseScores({
    vectorIds,
    lexical,
    cosines,
    k: candidateK,
    lexicalShare: indexes.lexicalShare,
  });
  return { fused, cosines, plan: answer.plan, exhaustive: answer.exhaustive, degraded };
}
