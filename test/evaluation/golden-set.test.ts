import { describe, expect, it } from 'vitest';
import { halfOf, parseGoldenSet } from '../../src/evaluation/golden-set.js';

const line = '{"id":"q1","query":"x","expected":[{"key":"n1"}]}';

describe('parseGoldenSet', () => {
  it('fills defaults and names the set by digest', () => {
    const set = parseGoldenSet(`${line}\n\n`, 'golden.jsonl');
    expect(set.queries).toEqual([
      { id: 'q1', query: 'x', expected: [{ key: 'n1', grade: 3 }], kind: 'unspecified', language: 'und' },
    ]);
    expect(set.digest).toMatch(/^[0-9a-f]{16}$/u);
  });

  it.each([
    ['{', 1, 'not JSON'],
    [`${line}\n{"id":"q2"}`, 2, 'query'],
    [`${line}\n${line}`, 2, 'unique id'],
    ['', 1, 'at least one query'],
    ['{"id":"q1","query":"x","expected":[{"key":"n","grade":4}]}', 1, 'grade'],
  ])('refuses a bad file with its line', (text, lineNumber, part) => {
    expect(() => parseGoldenSet(text, 'golden.jsonl')).toThrow(
      expect.objectContaining({
        code: 'INVALID_FILE',
        message: expect.stringContaining(part),
        details: { line: lineNumber },
      }),
    );
  });
});

describe('halfOf', () => {
  it('splits about evenly and does not depend on other queries', () => {
    const halves = Array.from({ length: 400 }, (_, index) => halfOf({ id: `q-${index}` }));
    const tune = halves.filter((half) => half === 'tune').length;
    expect(tune).toBeGreaterThan(150);
    expect(tune).toBeLessThan(250);
    expect(halfOf({ id: 'q-1' })).toBe(halves[1]);
  });
});
