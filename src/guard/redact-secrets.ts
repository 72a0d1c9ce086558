import { createHash } from 'node:crypto';
import type { Finding } from '../domain/note.js';
import { decodePercent } from './percent-encoding.js';
import { findPersonalData, type PersonalDataOptions } from './personal-data.js';
import { findPrivateKeys } from './private-keys.js';
import { findSecretAssignments } from './secret-assignments.js';
import { SECRET_RULES, type SecretSpan } from './secret-rules.js';
import { findShownSecrets } from './shown-secrets.js';

/** Replaces the secrets of one note's texts. Holds them in memory only as long as it lives. */
export interface Redactor {
  /**
   * The text with every secret and, unless only `secrets` are asked for, every e-mail address, card number and IBAN replaced
   * by `[REDACTED:{kind}:{number}]`. Pure but for the numbering.
   */
  redact(text: string, field: string, what?: 'everything' | 'secrets'): string;
  /** One a kind and field, in the order met. */
  findings(): readonly Finding[];
}

/**
 * SHA-256 of secrets that their issuers print in public documentation (AWS's and Stripe's example keys, jwt.io's token, the
 * credentials of RFC 7617 and their like).
 * As digests, so that no scanner takes this file for a leak.
 */
const DOCUMENTED_EXAMPLES: ReadonlySet<string> = new Set([
  '2cafc0970149a84f3b9e62eaf169f36f59907a3b3e31f7b82e68c69cd27f7326',
  'f2d6ca16515033e5dce14eba840b979d27b5cbae24bb3e5bf484339667f86397',
  '7f75367e7881255134e1375e723d1dea8ad5f6a4fdb79d938df1f1754a830606',
  'c794fa6d20c64efb9adf980ae93af472a1679775862d421ffe55d4a57fad5b3e',
  '0e9d220616f08345a714ee57d8516310770588484b5239844635f952965e34a6',
  'cf4d418ed3de92d71f767db5391d5a2dacd40e1ce49e75d1137e2ecf4982d844',
  'eab7452d7d0fd9d1be1d6e638b6a868a670abaf0c1fe0202168ff5b7794f1443',
  'e4da07ad200089ce7f40110f02910677ae48b4134c1df10b4350062fcb9a32b3',
  'bdfeaef44475711c3abaf41d3ddd35322152714fb6709850571bad470033c478',
]);
const LABELS: ReadonlyMap<string, string> = new Map([
  ['private-key', 'A private key'],
  ['credential', 'A password, key or token'],
  ['email', 'An e-mail address'],
  ['card-number', 'A card number'],
  ['iban', 'A bank account number'],
  ['phone', 'A phone number'],
  ...SECRET_RULES.map((rule) => [rule.kind, rule.label] as const),
]);
const PERSONAL: ReadonlySet<string> = new Set(['email', 'card-number', 'iban', 'phone']);
const PLACEHOLDER = /^\[REDACTED:[a-z0-9-]{1,40}:\d{1,6}\]?$/u;

/**
 * A redactor for one note: the same secret gets the same number in every field, numbers count per kind from 1 in the
 * order met, so that the same texts always give the same result. Placeholders pass unchanged, hence idempotent.
 * Linear in the length of the text.
 */
export function createRedactor(options: PersonalDataOptions = {}): Redactor {
  const numbers = new Map<string, string>();
  const perKind = new Map<string, number>();
  const findings = new Map<string, Finding>();
  const placeholder = (kind: string, secret: string): string => {
    const known = numbers.get(secret);
    if (known !== undefined) {
      return known;
    }
    const number = (perKind.get(kind) ?? 0) + 1;
    perKind.set(kind, number);
    const made = `[REDACTED:${kind}:${number}]`;
    numbers.set(secret, made);
    return made;
  };
  return {
    redact(text, field, what = 'everything') {
      let redacted = '';
      let from = 0;
      for (const { start, end, kind } of findSecrets(text, options)) {
        if (what === 'secrets' && PERSONAL.has(kind)) continue;
        redacted += text.slice(from, start) + placeholder(kind, text.slice(start, end));
        from = end;
        findings.set(`${kind}\n${field}`, {
          rule: `secret.${kind}`,
          field,
          reason: `${LABELS.get(kind) ?? 'A secret'} was replaced by a placeholder${PERSONAL.has(kind) ? '' : '; change it where it was in use'}`,
        });
      }
      return redacted + text.slice(from);
    },
    findings: () => [...findings.values()],
  };
}

/** Redacts a text that stands alone, such as a query or a reason. */
export function redactSecrets(
  text: string,
  options: PersonalDataOptions = {},
): {
  readonly text: string;
  readonly findings: readonly Finding[];
} {
  const redactor = createRedactor(options);
  const redacted = redactor.redact(text, 'text');
  return { text: redacted, findings: redactor.findings() };
}

/** Names a query in receipts: SHA-256, lower-case hex, of the redacted text, since the digest of a short secret can be guessed. */
export function queryDigest(query: string, options: PersonalDataOptions = {}): string {
  return createHash('sha256').update(redactSecrets(query, options).text).digest('hex');
}

/** An address within an address is encoded twice. */
const MAX_DECODINGS = 2;

/**
 * Secrets and personal data in a text, in order, never overlapping: where two rules claim the same characters, the earlier rule wins.
 * Where there are percent escapes, what is a secret without them is one, too: `Leaked%3A%20…` hides where a token begins.
 */
export function findSecrets(text: string, options: PersonalDataOptions = {}): readonly SecretSpan[] {
  const found = [...findPlain(text, options)];
  let positions: readonly number[] | undefined;
  for (let [encoded, round] = [text, 0]; round < MAX_DECODINGS; round += 1) {
    const decoded = decodePercent(encoded);
    if (decoded === undefined) break;
    const outer = positions;
    positions =
      outer === undefined ? decoded.positions : decoded.positions.map((at) => outer[at] ?? text.length);
    for (const { start, end, kind } of findPlain(decoded.text, options)) {
      join(found, { start: positions[start] ?? 0, end: positions[end] ?? text.length, kind });
    }
    encoded = decoded.text;
  }
  return found.sort((a, b) => a.start - b.start);
}

/** Adds a span; what it overlaps becomes one with it, so that no part of either stays. */
function join(spans: SecretSpan[], { start, end, kind }: SecretSpan): void {
  let joined: SecretSpan = { start, end, kind };
  for (let at = spans.length - 1; at >= 0; at -= 1) {
    const other = spans[at];
    if (other === undefined || other.end <= joined.start || joined.end <= other.start) continue;
    joined = {
      start: Math.min(joined.start, other.start),
      end: Math.max(joined.end, other.end),
      kind: other.kind,
    };
    spans.splice(at, 1);
  }
  spans.push(joined);
}

function findPlain(text: string, options: PersonalDataOptions): readonly SecretSpan[] {
  const claims: SecretSpan[] = [...findPrivateKeys(text)];
  const lowerCase = text.toLowerCase();
  for (const rule of SECRET_RULES) {
    if (lowerCase.includes(rule.hint)) {
      claims.push(...matches(rule.pattern, rule.kind, text));
    }
  }
  claims.push(
    ...findSecretAssignments(text),
    ...findShownSecrets(text, lowerCase),
    ...findPersonalData(text, options),
  );
  const kept: SecretSpan[] = [];
  for (const claim of claims) {
    const secret = text.slice(claim.start, claim.end);
    const free = !kept.some((other) => claim.start < other.end && other.start < claim.end);
    if (free && !PLACEHOLDER.test(secret) && !isExample(secret)) {
      kept.push(claim);
    }
  }
  return kept;
}

function matches(pattern: RegExp, kind: string, text: string): SecretSpan[] {
  return [...text.matchAll(pattern)].map((match) => {
    const secret = match.groups?.secret ?? match[0];
    // A group's own position needs the `d` flag; the secret is never empty and nothing before it in a match repeats it
    // further right than the last occurrence.
    const start = match.index + match[0].lastIndexOf(secret);
    return { start, end: start + secret.length, kind };
  });
}

/** Keys from public documentation, and values that say themselves that they stand for one. */
function isExample(secret: string): boolean {
  return (
    /EXAMPLE|(.)\1{9}/u.test(secret) ||
    /^(?:password|passwd|pass|pwd|secret|user|token|x{3,}|\*{3,}|\.{3,}|<.{1,40}>|\$\{.{1,60}|\$[A-Z_]{1,60}|%[A-Z_]{1,40}%|\{.{1,60})$/iu.test(
      secret,
    ) ||
    DOCUMENTED_EXAMPLES.has(createHash('sha256').update(secret).digest('hex'))
  );
}
