import { describe, expect, it } from 'vitest';
import { createRedactor, redactSecrets } from '../../src/guard/redact-secrets.js';
import { leastCpuMs } from '../cpu-time.js';
import { HARMLESS, IN_CONTEXT, SECRETS } from './secret-texts.js';

describe('redactSecrets', () => {
  it.each(SECRETS)('redacts %s in running text', (kind, secret) => {
    for (const text of [`Leaked: ${secret}`, `("${secret}")`, `a ${secret} b`]) {
      const redacted = redactSecrets(text);
      expect(redacted.text).toBe(text.replace(secret, `[REDACTED:${kind}:1]`));
      expect(redacted.findings).toMatchObject([{ rule: `secret.${kind}`, field: 'text' }]);
    }
  });

  it.each(IN_CONTEXT)('redacts %s by its context', (kind, text, secret) => {
    const redacted = redactSecrets(text);
    expect(redacted.text).not.toContain(secret);
    expect(redacted.text).toContain(`[REDACTED:${kind}:1]`);
  });

  it.each(HARMLESS)('leaves alone: %s', (text) => {
    expect(redactSecrets(text)).toEqual({ text, findings: [] });
  });

  it('redacts a private key on one line, with escaped line ends, and cut off', () => {
    const [, key] = SECRETS[0]!;
    for (const text of [
      key.replaceAll('\n', ' '),
      key.replaceAll('\n', '\\n'),
      key.split('\n').slice(0, 3).join('\n'),
    ]) {
      expect(redactSecrets(`x ${text} y`).text).toBe('x [REDACTED:private-key:1] y');
    }
  });

  it('gives one number to one secret across fields, and counts per kind', () => {
    const redactor = createRedactor();
    const [a, b] = [SECRETS[10]![1], `${SECRETS[10]![1].slice(0, -1)}Z`];
    const aws = SECRETS[4]![1];
    expect(redactor.redact(`${a} ${b} ${aws}`, 'wrongAnswer')).toBe(
      '[REDACTED:github-token:1] [REDACTED:github-token:2] [REDACTED:aws-access-key:1]',
    );
    expect(redactor.redact(`again ${b}`, 'lesson')).toBe('again [REDACTED:github-token:2]');
    expect(redactor.findings().map(({ rule, field }) => `${rule} ${field}`)).toEqual([
      'secret.github-token wrongAnswer',
      'secret.aws-access-key wrongAnswer',
      'secret.github-token lesson',
    ]);
    expect(JSON.stringify(redactor.findings())).not.toContain(a.slice(4));
  });

  it.each(SECRETS)('redacts %s in an address, once and twice encoded', (kind, secret) => {
    const text = `Leaked: ${secret} now`;
    const once = encodeURIComponent(text);
    for (const encoded of [once, encodeURIComponent(once)]) {
      const url = `https://x.example/?q=${encoded}&p=1`;
      const { text: redacted, findings } = redactSecrets(url);
      expect(redacted).toMatch(/^https:\/\/x\.example\/\?q=Leaked.*\[REDACTED:[a-z-]+:1\].*now&p=1$/u);
      expect(findings.map(({ rule }) => rule)).toContain(`secret.${kind}`);
      const sure = decodeURIComponent(decodeURIComponent(redacted));
      for (const line of secret.split('\n')) expect(sure).not.toContain(line);
    }
  });

  it('leaves addresses with other escapes as they are', () => {
    for (const url of [
      'https://x.example/a%20b?q=100%25&r=%E4%BD%A0%E5%A5%BD&s=%FF%FE#%zz',
      `https://x.example/?commit%3D${'0123456789abcdef'.repeat(2)}01234567`,
    ])
      expect(redactSecrets(url).text).toBe(url);
  });

  it('is idempotent on every fixture', () => {
    for (const text of [...SECRETS.map(([, secret]) => secret), ...IN_CONTEXT.map(([, text]) => text)]) {
      const once = redactSecrets(text).text;
      expect(redactSecrets(once).text).toBe(once);
    }
  });

  const begin = ['-----BEGIN', 'PRIVATE', 'KEY-----'].join(' ');
  it.each([
    ['PEM headers', begin.repeat(300)],
    ['header and base64', begin + 'A'.repeat(7_900)],
    ['jwt starts', 'eyJ'.repeat(2_600)],
    ['jwt dots', `${'eyJhbGciOi.'.repeat(720)}`],
    ['schemes', 'a://b:'.repeat(1_300)],
    ['long scheme', 'a'.repeat(8_000)],
    ['url passwords', `x://${'a:'.repeat(4_000)}`],
    ['assignments', 'password='.repeat(880)],
    ['secret names', 'tokentoken'.repeat(800)],
    ['aws', 'aws secret '.repeat(720)],
    ['bearer', 'bearer '.repeat(1_140)],
    ['sk-', `sk-${'a'.repeat(8_000)}`],
    ['many sk-', 'sk-aaaaaaaaaaaaaaaaaaaaaa '.repeat(300)],
    ['spaces', `secret${' '.repeat(8_000)}=`],
    ['dots', '.'.repeat(8_000)],
    ['escapes', '%41%25'.repeat(1_330)],
    ['escapes of escapes', '%2541'.repeat(1_600)],
  ])('takes under 50 ms for 8,000 characters of %s', (_name, text) => {
    expect(leastCpuMs(() => redactSecrets(text))).toBeLessThan(50);
  });
});
