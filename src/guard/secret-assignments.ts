import type { SecretSpan } from './secret-rules.js';

/**
 * `name = value` where the name speaks of a secret. The name may be part of a longer one (`DB_PASSWORD`, `apiKeyProd`);
 * at most 40 characters before and after keep the pattern linear.
 */
const ASSIGNMENT =
  /(?<name>(?:pass(?:word|wd|phrase)?|(?<![A-Za-z])pw|pwd|passwort|kennwort|contraseña|(?<![A-Za-z])clave|senha|secret|api[_-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|encryption[_-]?key|signing[_-]?key|token|credential)s?[\w.-]{0,40})["'`]?\s{0,4}(?<operator>:=|=>|={1,3}|:|,)\s{0,4}(?:[brfu]{0,2}(?=["']))?(?<quote>["'`]?)(?<value>[^\s"'`<>,;(){}[\]]{6,512})/giu;
/** Names that say the value is public or a digest. */
const PUBLIC_NAME =
  /hash|digest|sha\d|checksum|commit|revision|public|etag|count|limit|length|_id$|name$|field|header|url|path|file|type|expir|ttl|version|policy|model|format|pattern|regex|i[sz]er|i[sz]ation|secretar/iu;
const WEAK_NAME = /^tokens?/iu;
/** What makes a token one that opens something. */
const OPENING =
  /(?:auth|access|refresh|bearer|api|bot|secret|deploy|admin|service|push|webhook|session|job)[_.-]?$/iu;
/** How far the name is looked at to the left of what the pattern found. */
const BEFORE = 24;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu;
const DIGEST = /^(?:sha\d{1,3}[-:])?[0-9a-f]{32,128}$/iu;
const INTEGRITY = /^sha(?:1|256|384|512)[-:]/iu;
/** Values taken from somewhere else: variables, templates, members, calls. */
const REFERENCE =
  /^\$\{|^\$\(|^\$[A-Za-z_]\w*$|^%[A-Za-z_]+%$|^\{\{|^[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+$|^(?:null|none|undefined|true|false)$/u;
/** What people write instead of a secret. */
const STAND_IN = /example|changeme|change-me|placeholder|redacted|dummy|your[_-]|xxx|\*{3}|\.{3}|(.)\1{5}/iu;

/**
 * Values of secret-named assignments that look random: enough distinct characters for their length, and at least two of
 * lower case, upper case, digits, others. A value of letters only (`password`, `getToken`) is taken for a word. Digests
 * and UUIDs are spared where the name is only `token`. Linear.
 */
export function findSecretAssignments(text: string): readonly SecretSpan[] {
  const spans: SecretSpan[] = [];
  for (const match of text.matchAll(ASSIGNMENT)) {
    const { name = '', operator = '', quote = '', value: matched = '' } = match.groups ?? {};
    const value = quote === '' ? matched.replace(/[.:!?]+$/u, '') : matched;
    const end = match.index + match[0].length - (matched.length - value.length);
    const calls = text[match.index + match[0].length] === '(' || text[match.index + match[0].length] === '[';
    if (
      !calls &&
      !(operator === ',' && quote === '') &&
      isSecretValue(
        OPENING.test(text.slice(Math.max(0, match.index - BEFORE), match.index)) ? `opening ${name}` : name,
        value,
        operator !== ':' || quote !== '',
      )
    ) {
      spans.push({ start: end - value.length, end, kind: 'credential' });
    }
  }
  return spans;
}

/** Whether a value of such a name is no word, digest or reference. `code`: written as code (an equals sign or quotes), not as prose with a colon, which asks for more. */
export function isSecretValue(name: string, value: string, code: boolean): boolean {
  if (PUBLIC_NAME.test(name) || INTEGRITY.test(value) || REFERENCE.test(value) || STAND_IN.test(value)) {
    return false;
  }
  if (UUID.test(value) || DIGEST.test(value)) {
    return !WEAK_NAME.test(name) && code;
  }
  const classes = [/[a-z]/u, /[A-Z]/u, /\d/u, /[^A-Za-z\d]/u].filter((set) => set.test(value)).length;
  const hasDigit = /\d/u.test(value);
  const hasSymbol = /[!#$%&*+/=?@^~|]/u.test(value);
  const minLength = code ? 6 : 8;
  const minEntropy = code ? 2.3 : 2.8;
  return (
    value.length >= minLength &&
    classes >= 2 &&
    (hasDigit || hasSymbol) &&
    bitsPerCharacter(value) >= minEntropy
  );
}

/** Shannon entropy of the value's own character counts, in bits. */
function bitsPerCharacter(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  let bits = 0;
  for (const count of counts.values()) {
    const share = count / value.length;
    bits -= share * Math.log2(share);
  }
  return bits;
}
