import { expect, it } from 'vitest';
import type { PlanExplanation } from '../../src/ports/vector-index.js';
import { describePlan } from '../../src/retrieval/describe-plan.js';

const explained = (more: Partial<PlanExplanation>): PlanExplanation => ({
  plan: 'scan',
  exhaustive: true,
  estimatedUs: 4.25,
  tookUs: 5,
  scanUs: 4.25,
  allowedVectors: 10,
  allowedNotes: 10,
  compared: 10,
  rescored: 10,
  threads: 1,
  ...more,
});

it('says what ran and what it was expected to cost, summed over partitions', () => {
  const answer = { hits: [], plan: 'scan', exhaustive: true };
  expect(describePlan(answer)).toBe('0 by scan');
  expect(describePlan({ ...answer, explanations: [explained({})] })).toBe(
    '0 by scan: 5.0 µs, expected 4.3 (scan 4.3); 10 compared',
  );
  const graph = explained({ tookUs: 100, estimatedUs: 90, scanUs: 1000, graphUs: 90, compared: 1060 });
  expect(describePlan({ ...answer, plan: '2×x', explanations: [explained({}), graph] })).toBe(
    '0 by 2×x: 105 µs, expected 94 (scan 1004, graph 90); 1070 compared',
  );
});
