import type { NoteId } from '../../domain/note.js';
import { cosine } from '../../domain/scores.js';
import type { PlanExplanation, VectorAnswer, VectorHit } from '../../ports/vector-index.js';
import { ROW_KINDS } from './index-checks.js';
import type { NativeAnswer, NativeExplainedAnswer } from './load-addon.js';

/** Best first, ties by id. */
function compareHits(a: VectorHit, b: VectorHit): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  return 0;
}

/**
 * One answer out of one a partition. A note that is moving between partitions may be in two: its best row counts.
 * `missing` counts hits whose key has no note any more, because it was removed while the search ran.
 */
export function mergeAnswers(
  answers: readonly (NativeAnswer | NativeExplainedAnswer)[],
  k: number,
  idOf: (key: number) => NoteId | undefined,
): { answer: VectorAnswer; missing: number } {
  let missing = 0;
  const best = new Map<NoteId, VectorHit>();
  for (const { keys, scores, kinds } of answers) {
    keys.forEach((key, i) => {
      const id = idOf(key);
      if (id === undefined) {
        missing += 1;
        return;
      }
      const hit: VectorHit = { id, score: cosine(scores[i] ?? 0), row: ROW_KINDS[kinds[i] ?? 0] ?? 'lesson' };
      const held = best.get(id);
      if (held === undefined || hit.score > held.score) best.set(id, hit);
    });
  }
  const hits = [...best.values()].sort(compareHits).slice(0, k);
  const answer: VectorAnswer = {
    hits,
    plan: mergePlans(answers),
    exhaustive: answers.every((a) => a.exhaustive),
  };
  const explanations = answers.flatMap((a) => ('explanation' in a && a.plan !== 'empty' ? [explain(a)] : []));
  return { answer: explanations.length === 0 ? answer : { ...answer, explanations }, missing };
}

function explain({
  plan,
  exhaustive,
  compared,
  rescored,
  explanation,
}: NativeExplainedAnswer): PlanExplanation {
  const { estimatedUs, tookUs, scanUs, graphUs, allowedRows, allowedKeys, efSearch, budget, threads } =
    explanation;
  return {
    plan,
    exhaustive,
    estimatedUs,
    tookUs,
    scanUs,
    ...(Number.isNaN(graphUs) ? {} : { graphUs }),
    allowedVectors: allowedRows,
    allowedNotes: allowedKeys,
    compared,
    rescored,
    ...(efSearch === 0 ? {} : { efSearch }),
    ...(budget === 0 ? {} : { budget }),
    threads,
  };
}

/** `scan`; or, over several partitions, `2×graph, scan`; those that had nothing to compare are left out. */
function mergePlans(answers: readonly NativeAnswer[]): string {
  const counts = new Map<string, number>();
  for (const { plan } of answers) {
    if (plan !== 'empty') counts.set(plan, (counts.get(plan) ?? 0) + 1);
  }
  const plans = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return plans.length === 0
    ? 'empty'
    : plans.map(([plan, n]) => (n === 1 ? plan : `${n}×${plan}`)).join(', ');
}
