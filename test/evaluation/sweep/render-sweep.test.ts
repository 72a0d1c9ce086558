import { describe, expect, it } from 'vitest';
import { computeMetrics } from '../../../src/evaluation/metrics.js';
import {
  paretoFront,
  renderSweepMarkdown,
  renderSweepPlots,
  renderSweepText,
} from '../../../src/evaluation/sweep/render-sweep.js';
import type { SweepReport, SweepRow } from '../../../src/evaluation/sweep/run-sweep.js';

/** `right` of 10 queries find their note. */
function row(name: string, right: number, medianMs: number, more: Partial<SweepRow> = {}): SweepRow {
  const metrics = computeMetrics(
    Array.from({ length: 10 }, (_, index) => ({
      ranking: index < right ? ['a'] : ['x'],
      answered: index < right ? ['a'] : [],
      expected: new Map([['a', 3]]),
    })),
  );
  const ndcgByKind = { paraphrase: right / 10 };
  return {
    group: 'candidateK',
    name,
    shipped: false,
    tune: metrics,
    test: metrics,
    ndcgByKind,
    medianMs,
    ...more,
  };
}
const rows = [
  row('5', 6, 1),
  row('10', 8, 2, { pValue: 0.04 }),
  row('20', 8, 3, { shipped: true }),
  row('40', 9, 4),
  row('80', 7, 5),
];
const report: SweepReport = {
  format: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  goldenDigest: 'd',
  embeddingModel: 'm',
  machine: 'a machine',
  queries: 10,
  rows,
};

describe('a sweep’s report', () => {
  it('keeps what no other setting beats in both', () => {
    const front = paretoFront(
      rows,
      ({ medianMs }) => medianMs,
      ({ tune }) => tune.ndcgAt10,
    );
    expect(front.map(({ name }) => name)).toEqual(['5', '10', '40']);
  });

  it('marks what is shipped, shows p where there is one, and fits a terminal', () => {
    const lines = renderSweepText(report);
    expect(lines.find((line) => line.startsWith('20 *'))).toContain('0.800');
    expect(lines.find((line) => line.startsWith('10 '))).toContain('0.040');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(90);
    expect(renderSweepMarkdown(report)).toContain('| 20 * | 0.800 |');
  });

  it('draws both fronts', () => {
    const plots = renderSweepPlots(report);
    expect(Object.keys(plots)).toEqual(['quality-by-time.svg', 'answered-by-injected.svg']);
    expect(plots['quality-by-time.svg']).toContain('candidateK 40');
    expect(plots['quality-by-time.svg']).not.toContain('candidateK 80');
  });
});
