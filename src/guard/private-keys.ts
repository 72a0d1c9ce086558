import type { SecretSpan } from './secret-rules.js';

const HEADER = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/gu;
const FOOTER = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/gu;
/** A body that was cut off: base64 lines, also joined by escaped line breaks, quotes or plus signs as in source code. */
const BODY_LINE = /(?:\s|\\[nr]|["'+,]){0,8}[A-Za-z0-9+/=]{32,}/uy;
const MIN_BODY = 24;

/**
 * PEM and OpenPGP private keys, from header to footer; without a footer, as far as the base64 goes. A header that is only
 * spoken of ("flagged `-----BEGIN PRIVATE KEY-----` in the docs") is no key. Linear: each footer is looked for once.
 */
export function findPrivateKeys(text: string): readonly SecretSpan[] {
  if (!text.includes('PRIVATE KEY')) {
    return [];
  }
  const footers = [...text.matchAll(FOOTER)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  const spans: SecretSpan[] = [];
  let nextFooter = 0;
  let covered = 0;
  for (const header of text.matchAll(HEADER)) {
    const bodyStart = header.index + header[0].length;
    if (header.index < covered) {
      continue;
    }
    while (nextFooter < footers.length && (footers[nextFooter]?.start ?? 0) < bodyStart) {
      nextFooter += 1;
    }
    const footer = footers[nextFooter];
    const bodyEnd = endOfBase64(text, bodyStart);
    const closed = footer !== undefined && looksLikeBody(text.slice(bodyStart, footer.start));
    const end = closed ? footer.end : bodyEnd;
    if (end > bodyStart) {
      spans.push({ start: header.index, end, kind: 'private-key' });
      covered = end;
    }
  }
  return spans;
}

/** Between header and footer: long enough, and mostly base64 rather than words with spaces. */
function looksLikeBody(body: string): boolean {
  const solid = body.replace(/\s|\\[nr]/gu, '');
  return solid.length >= MIN_BODY && /[A-Za-z0-9+/=]{24}/u.test(solid.slice(0, 20_000));
}

function endOfBase64(text: string, from: number): number {
  BODY_LINE.lastIndex = from;
  let end = from;
  while (BODY_LINE.test(text)) {
    end = BODY_LINE.lastIndex;
  }
  return end;
}
