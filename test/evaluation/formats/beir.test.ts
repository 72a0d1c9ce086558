import { describe, expect, it } from 'vitest';
import { importBeir } from '../../../src/evaluation/formats/beir.js';
import { parseGoldenSet } from '../../../src/evaluation/golden-set.js';

const files = {
  corpus:
    '{"_id":"d1","title":"Title one","text":"Body\\none"}\n{"_id":"d2","title":"","text":"Only text"}\n',
  queries: '{"_id":"q1","text":"first?"}\n{"_id":"q2","text":"unjudged?"}\n{"_id":"q3","text":"zero?"}\n',
  qrels: 'query-id\tcorpus-id\tscore\nq1\td1\t5\nq1\td2\t0\nq3\td1\t0\n',
};

describe('importBeir', () => {
  it('makes notes of documents and golden queries of judged queries', () => {
    const { notes, queries } = importBeir(files);
    expect(notes.map(({ key, lesson, correction }) => [key, lesson, correction])).toEqual([
      ['d1', 'Title one', 'Body one'],
      ['d2', 'Only text', 'Only text'],
    ]);
    expect(queries).toEqual([
      expect.objectContaining({ id: 'q1', query: 'first?', expected: [{ key: 'd1', grade: 3 }] }),
    ]);
    expect(parseGoldenSet(JSON.stringify(queries[0]), 'made').queries).toEqual(queries);
  });

  it('keeps to the limits without cutting a character in half', () => {
    const long = `{"_id":"d","title":"${'😀'.repeat(600)}","text":"t"}`;
    const [note] = importBeir({ ...files, corpus: long }).notes;
    expect(note?.lesson.length).toBeLessThanOrEqual(1_000);
    expect(note?.lesson.isWellFormed()).toBe(true);
  });

  it.each([
    [{ ...files, corpus: '{"_id":"d1"}' }, 1],
    [{ ...files, queries: '{"_id":"q1","text":"a"}\n{' }, 2],
    [{ ...files, qrels: 'query-id\tcorpus-id\tscore\nq1 d1 1' }, 2],
  ])('refuses a bad file with its line', (bad, line) => {
    expect(() => importBeir(bad)).toThrow(
      expect.objectContaining({ code: 'INVALID_FILE', details: { line } }),
    );
  });
});
