import { describe, expect, it } from 'vitest';
import { reportToDeepEval, reportToRagas } from '../../../src/evaluation/formats/judge-exports.js';
import { caseOf, reportOf } from '../case-results.js';

const report = reportOf([
  caseOf({ id: 'q1', query: 'a "jar"?', ranking: ['a', 'b'], answered: ['a', 'b'], expected: ['a', 'c'] }),
  caseOf({ id: 'q2', ranking: ['b'], answered: [], expected: [] }),
]);
const lessons = new Map([
  ['a', 'Lesson a.'],
  ['b', 'Lesson b,\nin two lines.'],
]);
const lessonOf = (name: string) => lessons.get(name);

describe('exports for judges', () => {
  it('gives Ragas a sample a line, by text and by id', () => {
    const lines = reportToRagas(report, lessonOf).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        user_input: 'a "jar"?',
        retrieved_contexts: ['Lesson a.', 'Lesson b,\nin two lines.'],
        reference_contexts: ['Lesson a.', 'c'],
        retrieved_context_ids: ['a', 'b'],
        reference_context_ids: ['a', 'c'],
      },
      {
        user_input: 'query q2',
        retrieved_contexts: [],
        reference_contexts: [],
        retrieved_context_ids: [],
        reference_context_ids: [],
      },
    ]);
  });

  it('gives DeepEval its own field names, with every field that it requires', () => {
    const cases = JSON.parse(reportToDeepEval(report, lessonOf)) as Record<string, unknown>[];
    expect(cases).toHaveLength(2);
    expect(cases[0]).toEqual({
      input: 'a "jar"?',
      actual_output: 'Lesson a.\nLesson b,\nin two lines.',
      expected_output: 'Lesson a.\nc',
      context: ['Lesson a.', 'c'],
      retrieval_context: ['Lesson a.', 'Lesson b,\nin two lines.'],
    });
  });

  it('agrees with Ragas’ own id-based measures as they are defined', () => {
    // precision: retrieved ids that are references / retrieved ids; recall: found references / references.
    expect(report.all.contextPrecision).toBe(1 / 2);
    expect(report.all.contextRecall).toBe(1 / 2);
    expect(report.all.noiseRate).toBe(1);
  });
});
