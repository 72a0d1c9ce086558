import { describe, expect, it } from 'vitest';
import { compareReports } from '../../src/evaluation/compare-reports.js';
import { judge, parseGate } from '../../src/evaluation/gate.js';
import { caseOf, reportOf, reportWith } from './case-results.js';

const gate = (rules: object) => parseGate(JSON.stringify(rules), 'gate.json');

describe('compareReports', () => {
  it('pairs by query and names what moved', () => {
    const comparison = compareReports(reportWith(90, 100), reportWith(85, 100));
    const recall = comparison.measures.find(({ name }) => name === 'recallAt3');
    expect(recall).toMatchObject({ pairs: 100, before: 0.9, after: 0.85 });
    expect(recall?.difference.low).toBeLessThan(-0.05);
    expect(recall?.difference.high).toBeLessThanOrEqual(0);
    // Five of five changes in one direction: 2 of 32 sign patterns.
    expect(recall?.pValue).toBeCloseTo(2 / 32, 12);
    expect(comparison.changes.map(({ id }) => id)).toEqual(['q85', 'q86', 'q87', 'q88', 'q89']);
    expect(comparison.changes[0]).toMatchObject({ before: ['n85'], after: ['x'], better: [] });
  });

  it('finds nothing in an A/A run, and says what it could have found', () => {
    const { measures, changes } = compareReports(reportWith(90, 100), reportWith(90, 100));
    expect(changes).toEqual([]);
    expect(measures.every(({ pValue, difference }) => pValue === 1 && difference.estimate === 0)).toBe(true);
    const recall = measures.find(({ name }) => name === 'recallAt3');
    expect(recall?.detectable).toBeGreaterThan(0.05);
    expect(recall?.detectable).toBeLessThan(0.2);
  });

  it('leaves out what only one has and refuses sets that share nothing', () => {
    const all = reportWith(90, 100);
    const fewer = reportOf(all.cases.slice(0, 60));
    expect(compareReports(all, fewer).unpaired).toHaveLength(all.cases.length - 60);
    expect(() => compareReports(all, reportOf([]))).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    );
  });
});

describe('judge', () => {
  it('passes an A/A run and fails on a drop beyond its limit, with the cases', () => {
    const rules = gate({ drops: { recallAt3: 0.02, abstentionRate: 0 } });
    expect(judge(rules, reportWith(90, 100), reportWith(90, 100))).toMatchObject({ ok: true, cases: [] });
    expect(judge(rules, reportWith(88, 100), reportWith(90, 100)).ok).toBe(true);
    const failed = judge(rules, reportWith(87, 100), reportWith(90, 100));
    expect(failed.ok).toBe(false);
    expect(failed.checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['drop recall@3']);
    expect(failed.cases.map(({ id }) => id)).toEqual(['q87', 'q88', 'q89']);
  });

  it('lets a drop pass that is not significant where the gate asks for significance', () => {
    const rules = gate({ drops: { recallAt3: 0.02 }, significance: 0.05 });
    const doubtful = judge(rules, reportWith(87, 100), reportWith(90, 100));
    expect(doubtful.ok).toBe(true);
    expect(doubtful.checks[0]?.text).toContain('not significant');
    expect(judge(rules, reportWith(75, 100), reportWith(90, 100)).ok).toBe(false);
  });

  it('bounds hold in their measure’s direction, and never over no queries', () => {
    const report = reportWith(90, 100);
    expect(judge(gate({ bounds: { recallAt3: 0.9, wronglyInjectedRate: 0 } }), report, undefined).ok).toBe(
      true,
    );
    expect(judge(gate({ bounds: { recallAt3: 0.91 } }), report, undefined).ok).toBe(false);
    expect(judge(gate({ bounds: { noiseRate: 0.05 } }), report, undefined).ok).toBe(false);
    const onlyAnswerable = reportOf(report.cases.filter(({ answerable }) => answerable));
    expect(judge(gate({ bounds: { wronglyInjectedRate: 1 } }), onlyAnswerable, undefined).ok).toBe(false);
  });

  it('bounds how well scores tell answerable queries from the others', () => {
    const scored = (id: string, best: number, expected: readonly string[]) => ({
      ...caseOf({ id, expected, ranking: ['a'], answered: ['a'] }),
      best,
    });
    const right = [0.9, 0.8, 0.7, 0.6, 0.1].map((best, at) => scored(`r${at}`, best, ['a']));
    const wrong = [0.65, 0.3, 0.2, 0.05].map((best, at) => scored(`w${at}`, best, []));
    const report = reportOf([...right, ...wrong]);
    // 16 of 20 pairs are in order; a threshold of .6 answers four of five and lets one of four pass.
    expect(judge(gate({ bounds: { answerableAuc: 0.8, injectedAt80: 0.25 } }), report, undefined).ok).toBe(
      true,
    );
    const { checks } = judge(
      gate({ bounds: { answerableAuc: 0.85, injectedAt80: 0.05 } }),
      report,
      undefined,
    );
    expect(checks.map(({ ok, text }) => [ok, text])).toEqual([
      [false, 'AUC answerable at least 0.85: 0.800'],
      [false, 'wrongly answered at 80% answered at most 0.05: 0.250'],
    ]);
    const oneKind = judge(gate({ bounds: { injectedAt80: 1 } }), reportOf(right), undefined);
    expect(oneKind.checks[0]?.text).toContain('no queries of one kind');
    expect(oneKind.ok).toBe(false);
    expect(() => gate({ drops: { answerableAuc: 0.1 } })).toThrow(
      expect.objectContaining({ code: 'INVALID_FILE' }),
    );
  });

  it('judges time only between runs of one machine', () => {
    const [fast, slow] = [reportOf(reportWith(9, 10).cases, 4), reportOf(reportWith(9, 10).cases, 9)];
    expect(judge(gate({ slowdown: 2 }), slow, fast).ok).toBe(false);
    expect(judge(gate({ slowdown: 2 }), slow, { ...fast, machine: 'another' }).ok).toBe(true);
    expect(judge(gate({ medianMs: 8 }), slow, undefined).ok).toBe(false);
  });

  it('refuses rules that it cannot keep', () => {
    expect(() => judge(gate({ drops: { mrr: 0 } }), reportWith(9, 10), undefined)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    );
    expect(() => gate({ drops: { recall: 0.1 } })).toThrow(expect.objectContaining({ code: 'INVALID_FILE' }));
    expect(() => gate({ floor: {} })).toThrow(expect.objectContaining({ code: 'INVALID_FILE' }));
    expect(() => parseGate('{', 'gate.json')).toThrow(expect.objectContaining({ code: 'INVALID_FILE' }));
  });
});
