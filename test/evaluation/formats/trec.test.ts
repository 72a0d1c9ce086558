import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reportToQrels, reportToRun } from '../../../src/evaluation/formats/report-trec.js';
import { scoreRun } from '../../../src/evaluation/formats/score-run.js';
import { parseQrels, parseRun, writeRun } from '../../../src/evaluation/formats/trec.js';
import type { MeasureName } from '../../../src/evaluation/metrics.js';
import { caseOf, reportOf } from '../case-results.js';

/** Made by pytrec_eval-terrier 0.5.11 (trec_eval's own C code) on random judgements and a run with ties; 25 queries. */
const fixture = JSON.parse(readFileSync('test/fixtures/trec-eval.json', 'utf8')) as {
  readonly qrels: string;
  readonly run: string;
  readonly measures: readonly string[];
  readonly values: Readonly<Record<string, readonly number[]>>;
};

const OURS: Readonly<Record<string, MeasureName>> = {
  recall_3: 'recallAt3',
  recall_10: 'recallAt10',
  P_3: 'precisionAt3',
  recip_rank: 'mrr',
  map: 'map',
  ndcg_cut_10: 'ndcgAt10',
  success_1: 'hitAt1',
  success_3: 'hitAt3',
};

describe('agreement with trec_eval', () => {
  const qrels = parseQrels(fixture.qrels, 'qrels');
  const run = parseRun(fixture.run, 'run');

  it('every measure of every query, to 1e-6, ties included', () => {
    const { byQuery } = scoreRun(qrels, run);
    expect([...byQuery.keys()].sort()).toEqual(Object.keys(fixture.values).sort());
    for (const [query, values] of Object.entries(fixture.values)) {
      values.forEach((value, index) => {
        const theirs = fixture.measures[index] ?? '';
        const ours = byQuery.get(query)?.[OURS[theirs] as MeasureName] ?? Number.NaN;
        expect(Math.abs(ours - value), `${query} ${theirs}`).toBeLessThan(1e-6);
      });
    }
  });

  it('a run that we write is read back in our order, whatever the names', () => {
    const rankings = new Map([['q', ['b', 'a', 'z', 'c d']]]);
    expect(parseRun(writeRun(rankings, 'tag'), 'run').get('q')).toEqual(['b', 'a', 'z', 'c_d']);
  });

  it('scores a report’s own files as the report does', () => {
    const report = reportOf([
      caseOf({ id: 'q1', ranking: ['x', 'a', 'b'], answered: ['x'], expected: ['a', 'b'] }),
      caseOf({ id: 'q2', ranking: ['y', 'z'], answered: [], expected: ['c'] }),
      caseOf({ id: 'q3', ranking: ['y'], answered: [], expected: [] }),
    ]);
    const score = scoreRun(parseQrels(reportToQrels(report), 'q'), parseRun(reportToRun(report), 'r'));
    for (const name of ['recallAt3', 'mrr', 'ndcgAt10', 'map'] as const) {
      expect(score.mean[name]).toBeCloseTo(report.test[name], 12);
    }
  });
});

describe('bad TREC files', () => {
  it.each([
    [() => parseQrels('q 0 d 1\nq 0 d', 'f'), 2],
    [() => parseQrels('q 0 d x', 'f'), 1],
    [() => parseRun('q Q0 d 1 0.5 t\n\nq Q0 d 1 nan t', 'f'), 3],
    [() => parseRun('q Q0 d 1 0.5', 'f'), 1],
  ])('are refused with their line', (read, line) => {
    expect(read).toThrow(expect.objectContaining({ code: 'INVALID_FILE', details: { line } }));
  });

  it('that share no query are refused', () => {
    expect(() => scoreRun(new Map(), new Map([['q', ['d']]]))).toThrow(
      expect.objectContaining({ code: 'INVALID_FILE' }),
    );
  });
});
