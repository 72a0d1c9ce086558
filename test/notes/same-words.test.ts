import { describe, expect, it } from 'vitest';
import { factsConflict } from '../../src/notes/agree.js';
import { sameWords } from '../../src/notes/same-words.js';

describe('sameWords', () => {
  it.each([
    ['Always close the response body.', 'Always close response bodies', true],
    ['Check the return value of read', "Check read's return value", true],
    ['Die Kunden prüfen', 'Der Kunde prüft', true],
    ["Don't retry", 'Do not retry', true],
    ['ログに書かない。', 'ログに書かない', true],
    ['Everybody may see it', 'Nobody may see it', false],
    ['The vendor holds the fix', 'The vendor lacks the fix', false],
    ['The clause is valid', 'The clause is invalid', false],
    ['It is affected', 'It is unaffected', false],
    ['Retry', 'Retry twice', false],
    ['ログに書く', 'ログに書かない', false],
  ])('%s / %s: %s', (a, b, expected) => {
    expect([sameWords(a, b), sameWords(b, a)]).toEqual([expected, expected]);
  });
});

describe('factsConflict', () => {
  it.each([
    ['within 14 days', 'within 30 days', true],
    ['fixed in 2.17.1', 'fixed in 2.17.2', true],
    ['see CVE-2021-44228', 'see CVE-2021-45046', true],
    ['two reviewers', 'three reviewers', true],
    ['within 14 days', 'within two weeks of 14 days', false],
    ['netty is unaffected', 'netty-handler 4.1 is unaffected', false],
    ['refunds take a while', 'a refund may take time', false],
  ])('%s / %s: %s', (a, b, expected) => {
    expect([factsConflict(a, b), factsConflict(b, a)]).toEqual([expected, expected]);
  });
});
