import type { SecretSpan } from './secret-rules.js';

/** What a redactor is told beside its defaults. */
export interface PersonalDataOptions {
  /** Phone numbers look like order and part numbers, so they are left alone unless asked for. */
  readonly phones?: boolean | undefined;
}

/** RFC 5321 limits, loosely: local part 64, labels 63. Letters of any script, since mail addresses have them. */
const EMAIL =
  /(?<![\p{L}\p{N}._%+/@-]|[\p{L}\p{N}]'|(?<!\b(?:mailto|to|cc|bcc|from|e?-?mail|reply-to|sender|contact|kontakt|author)):)[\p{L}\p{N}][\p{L}\p{N}._%+'-]{0,63}@(?<domain>(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,8}(?<top>\p{L}{2,24}))(?![\p{L}\p{N}@])(?!:[\w~/])/gu;
/** Reserved for documentation and tests (RFC 2606, RFC 6761), and what is not a domain: file types, local names. */
const RESERVED_DOMAIN =
  /(?:^|\.)(?:example\.(?:com|org|net|edu)|example|test|invalid|localhost|local|internal)$/iu;
const FILE_TYPE =
  /^(?:png|jpe?g|gif|svg|webp|ico|bmp|tiff?|avif|js|mjs|cjs|ts|tsx|jsx|css|scss|json|ya?ml|md|txt|html?|xml|py|rb|go|rs|java|kt|sh|lock|tgz|zip|gz)$/iu;

/** 13 to 19 digits, in one run or in groups by single spaces or dashes. */
const CARD = /(?<![\p{L}\d.,_/-])\d(?:[ -]?\d){12,18}(?![\p{L}\d_/-])/gu;
/** Ranges of Visa, Mastercard, American Express, Discover, JCB, Diners and Maestro with their lengths. */
const ISSUER =
  /^(?:4\d{15}(?:\d{3})?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|4[4-9]\d|5\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|(?:5018|5020|5038|6304|6759|676[1-3])\d{8,15})$/u;

/** ISO 13616: country, two check digits, up to 30 letters or digits, also in groups of four. */
const IBAN = /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\p{L}\p{N}])/gu;
/** Length by country (ISO 13616 registry); a country that is not listed is none. */
const IBAN_LENGTH: ReadonlyMap<string, number> = new Map(
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 CH21 CR22 CY28 CZ24 DE22 DK18 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 HR21 HU28 IE22 IL23 IS26 IT27 JO30 KW30 KZ20 LB28 LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MT31 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SE24 SI19 SK24 SM27 TN24 TR26 UA29 XK20'
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** International form, or a German style area code in brackets; digits in groups. */
const PHONE =
  /(?<![\p{L}\d.,/-])(?:(?:\+|00)[1-9]\d{0,2}|\(0\d{1,4}\))(?:[ ./()-]{0,2}\d){6,12}(?![\p{L}\d])/gu;

/** E-mail addresses, card numbers and IBANs, each checked by its own arithmetic; phone numbers where asked for. Linear. */
export function findPersonalData(
  text: string,
  { phones = false }: PersonalDataOptions = {},
): readonly SecretSpan[] {
  const spans: SecretSpan[] = [];
  if (text.includes('@')) {
    for (const match of text.matchAll(EMAIL)) {
      const { domain = '', top = '' } = match.groups ?? {};
      if (!RESERVED_DOMAIN.test(domain) && !FILE_TYPE.test(top)) spans.push(spanOf(match, 'email'));
    }
  }
  for (const match of text.matchAll(IBAN)) {
    const length = ibanLength(match[0]);
    if (length > 0) spans.push({ start: match.index, end: match.index + length, kind: 'iban' });
  }
  for (const match of text.matchAll(CARD)) {
    const digits = match[0].replace(/\D/gu, '');
    if (ISSUER.test(digits) && passesLuhn(digits)) spans.push(spanOf(match, 'card-number'));
  }
  if (phones) for (const match of text.matchAll(PHONE)) spans.push(spanOf(match, 'phone'));
  return spans;
}

function spanOf(match: RegExpMatchArray & { readonly index: number }, kind: string): SecretSpan {
  return { start: match.index, end: match.index + match[0].length, kind };
}

/** ISO/IEC 7812-1 annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? 2 * digit : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** How many characters of the match are an IBAN: groups after it may belong to the next word. 0: it is none. */
function ibanLength(matched: string): number {
  const expected = IBAN_LENGTH.get(matched.slice(0, 2));
  if (expected === undefined) return 0;
  let [taken, end] = [0, 0];
  for (const character of matched) {
    if (taken === expected) break;
    if (character !== ' ') taken += 1;
    end += 1;
  }
  const plain = matched.slice(0, end).replaceAll(' ', '');
  return plain.length === expected && remainder97(plain) === 1 ? end : 0;
}

/** ISO/IEC 7064 MOD 97-10 over the number that letters as 10…35 make, first four characters moved to the end. */
function remainder97(iban: string): number {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    for (const digit of String(Number.parseInt(character, 36)))
      remainder = (remainder * 10 + Number(digit)) % 97;
  }
  return remainder;
}
