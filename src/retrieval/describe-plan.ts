import type { PlanExplanation, VectorAnswer } from '../ports/vector-index.js';

/** `20 by graph: 112 µs, expected 101 (scan 2132, graph 101); 1060 compared`, summed over the partitions. */
export function describePlan({ hits, plan, explanations = [] }: VectorAnswer): string {
  const found = `${hits.length} by ${plan}`;
  if (explanations.length === 0) return found;
  const sum = (of: (one: PlanExplanation) => number): number =>
    explanations.reduce((total, one) => total + of(one), 0);
  const us = (value: number): string => (value < 10 ? value.toFixed(1) : String(Math.round(value)));
  const graphs = explanations.filter(({ graphUs }) => graphUs !== undefined);
  const graph = graphs.length === 0 ? '' : `, graph ${us(sum(({ graphUs = 0 }) => graphUs))}`;
  return (
    `${found}: ${us(sum(({ tookUs }) => tookUs))} µs, expected ${us(sum(({ estimatedUs }) => estimatedUs))} ` +
    `(scan ${us(sum(({ scanUs }) => scanUs))}${graph}); ${sum(({ compared }) => compared)} compared`
  );
}
