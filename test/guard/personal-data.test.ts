import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUpSecret } from '../../src/evaluation/made-up-secrets.js';
import { createRedactor, redactSecrets } from '../../src/guard/redact-secrets.js';

describe('personal data', () => {
  it.each([
    ['ask mia.berg@nordwerk.de now', 'ask [REDACTED:email:1] now'],
    ['<mia.berg@nordwerk.de>, ul@x.io', '<[REDACTED:email:1]>, [REDACTED:email:2]'],
    ['card 4111 1111 1111 1111.', 'card [REDACTED:card-number:1].'],
    ['IBAN DE89 3704 0044 0532 0130 00 OK', 'IBAN [REDACTED:iban:1] OK'],
    ['GB82WEST12345698765432', '[REDACTED:iban:1]'],
  ])('redacts %s', (text, expected) => {
    expect(redactSecrets(text).text).toBe(expected);
  });

  it.each([
    '4111 1111 1111 1112 fails its check digit',
    'DE89 3704 0044 0532 0130 01 fails its check digits',
    'DE8937040044053201300 is one character short',
    'git@github.com:org/repo.git and a@example.com, logo@2x.png',
    'phone +49 30 901820 14',
  ])('leaves alone: %s', (text) => {
    expect(redactSecrets(text).text).toBe(text);
  });

  it('redacts phone numbers only where asked to', () => {
    const text = 'Call +49 30 901820 14 or (030) 901820.';
    expect(redactSecrets(text).text).toBe(text);
    expect(createRedactor({ phones: true }).redact(text, 'lesson')).toBe(
      'Call [REDACTED:phone:1] or [REDACTED:phone:2].',
    );
  });

  it('finds every card number and IBAN with right check digits, and none with a wrong one', () => {
    const kinds = fc.constantFrom(
      ['card-number', 'visa'] as const,
      ['card-number', 'mastercard-spaced'] as const,
      ['card-number', 'amex'] as const,
      ['iban', 'DE-spaced'] as const,
      ['iban', 'GB'] as const,
      ['iban', 'CH-spaced'] as const,
    );
    fc.assert(
      fc.property(kinds, fc.string(), fc.integer({ min: 1, max: 9 }), ([kind, variant], seed, shift) => {
        const number = madeUpSecret(kind, variant, seed)!;
        expect(redactSecrets(`Account ${number}!`).text).toBe(`Account [REDACTED:${kind}:1]!`);
        const last = (Number(number.at(-1)) + shift) % 10;
        const wrong = number.slice(0, -1) + last;
        expect(redactSecrets(`Account ${wrong}!`).text).toBe(`Account ${wrong}!`);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['addresses', 'a@b.'.repeat(2_000)],
    ['long local part', `${'a'.repeat(8_000)}@b.de`],
    ['digits', '4 '.repeat(4_000)],
    ['groups', 'DE12 3456 '.repeat(800)],
    ['at signs', '@'.repeat(8_000)],
    ['labels', `a@${'b.'.repeat(4_000)}`],
  ])('takes under 50 ms of a core for 8,000 characters of %s', (_name, text) => {
    redactSecrets(text);
    const start = process.cpuUsage();
    redactSecrets(text);
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(50);
  });
});
