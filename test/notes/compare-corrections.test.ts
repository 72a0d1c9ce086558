import { describe, expect, it } from 'vitest';
import { correctionsOppose } from '../../src/notes/compare-corrections.js';
import { relate } from '../../src/notes/find-near-duplicate.js';

const LIMITS = { duplicateSimilarity: 0.92, contradictionSimilarity: 0.81, proposalSimilarity: 0.6 };
const note = (correction: string, wrongAnswer = 'It was judged wrongly.') => ({
  lesson: 'Look at the annex before judging a clause.',
  correction,
  wrongAnswer,
});
const oppose = (a: string, b: string) => [
  correctionsOppose(note(a), note(b)),
  correctionsOppose(note(b), note(a)),
];

describe('corrections under near lessons', () => {
  it.each([
    ['The clause on liability is valid here.', 'The clause on liability is not valid here.'],
    ['The annex allows the sale of parts.', 'The annex forbids the sale of parts.'],
    ['Take the buyer instead of the seller.', 'Take the seller instead of the buyer.'],
    ['Read the date before the number.', 'Read the number before the date.'],
    ['Die Anlage erlaubt den Verkauf.', 'Die Anlage erlaubt den Verkauf nicht.'],
    ['この条項は有効である。', 'この条項は有効ではない。'],
  ])('oppose each other: %s / %s', (a, b) => {
    expect(oppose(a, b)).toEqual([true, true]);
  });

  it.each([
    // Two ways to say no, another order, another subject, another fact.
    ['The sale of parts is not allowed.', 'The sale of parts is forbidden.'],
    ['The line is lost when the newline is missing.', 'When the newline is missing, the line is lost.'],
    ['The parcel may be sent.', 'Nobody has signed the contract.'],
    ['Section 12 is valid here.', 'Section 14 is not valid here.'],
  ])('do not oppose each other: %s / %s', (a, b) => {
    expect(oppose(a, b)).toEqual([false, false]);
  });

  it('oppose each other where one is right in what was wrong for the other', () => {
    const [server, client] = ['Only the server part is affected.', 'Only the client part is affected.'];
    expect(correctionsOppose(note(server, client), note(client, server))).toBe(true);
    expect(correctionsOppose(note(server), note(client))).toBe(false);
  });

  it('decide what becomes of equal lessons', () => {
    const kind = (a: object, b: object) => relate(a as never, b as never, 1, LIMITS);
    expect(kind(note('It is valid here.'), note('It is not valid here.'))).toBe('opposite');
    expect(kind(note('It is valid here.'), note('It is valid here.'))).toBe('duplicate');
    // One word is another: nobody's merge, a reviewer's look.
    expect(kind(note('The server part is hit.'), note('The client part is hit.'))).toBe('proposal');
    expect(kind(note('At most 30 days.'), note('At most 60 days.'))).toBe('proposal');
    expect(
      kind(note('Valid.', 'Took CVE-2024-1 for real.'), note('Valid.', 'Took CVE-2024-2 for real.')),
    ).toBe('proposal');
    // Opposite by the words, but of two findings.
    expect(
      kind(note('It is affected.', 'About CVE-2024-1.'), note('It is not affected.', 'About CVE-2024-2.')),
    ).toBe('proposal');
  });
});
