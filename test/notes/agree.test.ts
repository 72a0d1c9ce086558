import { describe, expect, it } from 'vitest';
import { agree } from '../../src/notes/agree.js';

const judge = (a: string, b: string) =>
  agree(
    { lesson: a, correction: 'same', wrongAnswer: 'same' },
    { lesson: b, correction: 'same', wrongAnswer: 'same' },
  );

/** Left and right, and how they relate; each is tried both ways round. */
const PAIRS: readonly (readonly [string, string, 'same' | 'opposite' | 'different'])[] = [
  ['Quote identifiers in queries', 'In queries, identifiers are to be quoted', 'same'],
  ['Refunds take 14 days', 'A refund takes 14 days', 'same'],
  ['Refunds take two weeks', 'A refund takes 2 weeks', 'same'],
  ['A money-back promise counts', 'A money back promise counts', 'same'],
  ['Pay 1,000 EUR', 'Pay 1000 EUR', 'same'],
  ["Don't retry", 'Do not retry', 'same'],
  ['全角の１２件まで', '全角の12件まで', 'same'],
  ['Refunds take 14 days', 'Refunds take 30 days', 'different'],
  ['Fixed in 2.17.1', 'Fixed in 2.17.2', 'different'],
  ['Fixed in 2.17.1', 'Fixed in 2.17', 'different'],
  ['See CVE-2021-44228', 'See CVE-2021-45046', 'different'],
  ['Call parse_url first', 'Call parse_uri first', 'different'],
  ['Use spring-core', 'Use spring-web', 'different'],
  ['Due 2026-01-02', 'Due 2026-02-01', 'different'],
  ['Retry two times', 'Retry three times', 'different'],
  ['Zwei Zeugen genügen', 'Drei Zeugen genügen', 'different'],
  ['Il faut deux témoins', 'Il faut trois témoins', 'different'],
  ['三日以内に返品', '五日以内に返品', 'different'],
  ['٣ أيام', '٥ أيام', 'different'],
  ['The clause must be signed', 'The clause must not be signed', 'opposite'],
  ['The call is safe', "The call isn't safe", 'opposite'],
  ['Always retry', 'Never retry', 'opposite'],
  ['The input is valid', 'The input is invalid', 'opposite'],
  ['Enable the cache', 'Disable the cache', 'opposite'],
  ['Prices include tax', 'Prices exclude tax', 'opposite'],
  ['Pick tabs instead of spaces', 'Pick spaces instead of tabs', 'opposite'],
  ['Validate before parsing', 'Validate after parsing', 'opposite'],
  ['Read before write', 'Write before read', 'opposite'],
  ['Die Klausel ist zulässig', 'Die Klausel ist unzulässig', 'opposite'],
  ['Die Klausel gilt', 'Die Klausel gilt nicht', 'opposite'],
  ['Das ist ein Fehler', 'Das ist kein Fehler', 'opposite'],
  ['La clause est valable', "La clause n'est pas valable", 'opposite'],
  ['Avec reçu', 'Sans reçu', 'opposite'],
  ['La cláusula es válida', 'La cláusula no es válida', 'opposite'],
  ['Siempre se devuelve', 'Nunca se devuelve', 'opposite'],
  ['A cláusula é válida', 'A cláusula não é válida', 'opposite'],
  ['A taxa é obrigatória com recibo', 'A taxa é obrigatória sem recibo', 'opposite'],
  ['この条項は有効である', 'この条項は有効ではない', 'opposite'],
  ['返品できる', '返品できない', 'opposite'],
  ['返金します', '返金しません', 'opposite'],
];

describe('agree', () => {
  it.each(PAIRS)('%s / %s: %s', (a, b, expected) => {
    expect([judge(a, b), judge(b, a)]).toEqual([expected, expected]);
  });

  it('holds for the correction too', () => {
    const note = (correction: string) => ({ lesson: 'the same lesson', correction, wrongAnswer: 'same' });
    expect(agree(note('by 2.17.1'), note('by 2.17.2'))).toBe('different');
    expect(agree(note('it is affected'), note('it is not affected'))).toBe('opposite');
    expect(agree(note('it is affected'), note('yes, it is affected'))).toBe('same');
  });

  it('holds for the wrong answer too', () => {
    const note = (wrongAnswer: string) => ({ lesson: 'the same lesson', correction: 'same', wrongAnswer });
    expect(agree(note('took CVE-2021-1 for real'), note('took CVE-2021-2 for real'))).toBe('different');
    expect(agree(note('it is affected'), note('it is not affected'))).toBe('opposite');
    expect(agree(note('it is affected'), note('said it is affected'))).toBe('same');
  });
});
