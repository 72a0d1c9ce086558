import { getEncoding } from 'js-tiktoken';
import { describe, expect, it } from 'vitest';
import { createTokenCounters } from '../../../src/adapters/tokens/create-token-counters.js';

const counters = createTokenCounters();
const TEXTS = [
  'Mark CVE-2021-44228 as not affected: the class is not on the class path.',
  '1. [2026-01-31] dependency-scan: netty-codec-http 4.1.100.Final is server-side only.\n2. …\n\n  indented\ttab',
  'Übermäßig lange Wörter, 漢字かな交じり文と 😀👩‍👩‍👧‍👦, שלום',
  '<|endoftext|> is plain text here, and so is <|im_start|>',
  'trailing spaces   ',
  '   leading',
  'a\r\n\r\nb',
];

describe('token counters', () => {
  it('names what it has, o200k_base by default', () => {
    expect(counters.names()).toEqual(['o200k_base', 'cl100k_base', 'bytes']);
    expect(counters.get().name).toBe('o200k_base');
    expect(() => counters.get('p50k')).toThrowError(
      expect.objectContaining({
        code: 'UNKNOWN_TOKENIZER',
        message: expect.stringContaining('o200k_base, cl100k_base, bytes'),
      }),
    );
  });

  it.each(['o200k_base', 'cl100k_base'] as const)('counts with %s as the library does', (name) => {
    const library = getEncoding(name);
    const counter = counters.get(name);
    for (const text of TEXTS) expect(counter.count(text), text).toBe(library.encode(text, [], []).length);
    expect(counter.count('')).toBe(0);
    // Longer than one piece; every cut is at a place that no token reaches over.
    const long = TEXTS.join(' ').repeat(40);
    expect(counter.count(long)).toBe(library.encode(long, [], []).length);
  });

  it('knows two counts by heart', () => {
    expect(counters.get('cl100k_base').count('hello world')).toBe(2);
    expect(counters.get('o200k_base').count('hello world')).toBe(2);
  });

  it('does not hang on a long unbroken run, and stays close to the exact count', () => {
    const counter = counters.get('o200k_base');
    const exact = getEncoding('o200k_base').encode('ab1'.repeat(300), [], []).length;
    expect(Math.abs(counter.count('ab1'.repeat(300)) - exact)).toBeLessThanOrEqual(3);
    // 64 kB at once would take over four minutes.
    expect(counter.count('x'.repeat(65_536))).toBeGreaterThan(1_000);
    expect(counter.count('😀'.repeat(1_000))).toBeGreaterThanOrEqual(1_000);
  });

  it('estimates on the safe side in bytes', () => {
    const estimate = counters.get('bytes');
    expect(estimate.count('')).toBe(0);
    expect(estimate.count('abcd')).toBe(2);
    expect(estimate.count('2.15.0')).toBe(6);
    expect(estimate.count('漢字')).toBe(4);
    for (const name of ['o200k_base', 'cl100k_base'])
      for (const text of TEXTS)
        expect(estimate.count(text), text).toBeGreaterThanOrEqual(counters.get(name).count(text));
  });
});
