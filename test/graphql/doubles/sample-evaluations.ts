import type { AnswerRate, AnswerRun } from '../../../src/ports/answer-runs.js';
import type { SweepRun } from '../../../src/ports/sweep-runs.js';
import { noteId } from './sample-notes.js';

const AT = '2026-02-01T00:00:00.000Z';
const DIGEST = '0123456789abcdef';

export function sampleSweep(namespace: string): SweepRun {
  const metrics = { ndcgAt10: 0.5, answeredRight: 0.5, wronglyInjectedRate: 0.1, contextRecall: 0.5 };
  const row = { tune: metrics, test: metrics, ndcgByKind: { paraphrase: 0.5 }, medianMs: 3 };
  return {
    ...{ id: 'sweep-1', namespace, createdAt: AT, goldenDigest: DIGEST, embeddingModel: 'double' },
    ...{ machine: 'a machine', queries: 2 },
    rows: [
      { ...row, group: 'stages', name: '+ threshold', shipped: true },
      { ...row, group: 'stages', name: 'vectors only', shipped: false, pValue: 0.5 },
    ],
  };
}

export function sampleAnswerRun(namespace: string): AnswerRun {
  const share = { count: 1, total: 20, rate: 0.05, low: 0.01, high: 0.24 };
  const rate: AnswerRate = {
    ...{ before: share, after: share, fixed: 1, broken: 1, pValue: 1, detectable: 0.2 },
    difference: { estimate: 0, low: -0.1, high: 0.1 },
  };
  const rates = { falsePositives: rate, falseNegatives: rate };
  const change = { id: 'a', taskType: 'any', truth: true, before: true, after: false, notes: [noteId(1)] };
  return {
    ...{ id: 'answers-1', namespace, createdAt: AT, createdBy: 'double', casesDigest: DIGEST, pairs: 40 },
    verdict: 'same',
    ...{ ...rates, errors: rate, adjusted: { falsePositives: 1, falseNegatives: 1 } },
    ...{ byTaskType: { any: rates }, utilisation: share, noiseSensitivity: share },
    ...{ regressions: [change], fixes: [], missing: 0, unreadable: 0 },
    noteEffects: [{ noteId: noteId(1), injected: 2, fixed: [], broken: ['a'], shared: [] }],
  };
}
