import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parseLabelledSecrets } from '../../src/evaluation/labelled-secrets.js';

/** A text as a person would write it, with what must not be kept of it. */
export interface Planted {
  readonly kind: string;
  readonly text: string;
  readonly secrets: readonly string[];
}

const FILE = 'sample/guard/secrets.jsonl';
/** Shorter ones may stand somewhere by chance. */
const TELLING_LENGTH = 8;

interface Line {
  readonly id: string;
  readonly half: string;
  readonly text: string;
}

/**
 * One text of every kind of secret that the labelled set has: the tuning half's wording, a made-up secret that nobody has seen before.
 * The same for the same seed.
 */
export function plantSecrets(seed: number): readonly Planted[] {
  const lines = readFileSync(FILE, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
    .filter(({ half, text }) => half === 'tune' && text.includes('⟦'));
  const byKind = new Map<string, Line[]>();
  for (const line of lines) {
    const kind = /⟦([a-z0-9-]+)/u.exec(line.text)?.[1] ?? '';
    byKind.set(kind, [...(byKind.get(kind) ?? []), line]);
  }
  const plantings = [...byKind].map(([kind, of]) =>
    fc.tuple(fc.constantFrom(...of), fc.uuid()).map(([line, salt]): Planted => {
      const filled = JSON.stringify({ ...line, id: `${line.id} ${salt}` });
      const [entry] = parseLabelledSecrets(filled, FILE).entries;
      if (entry === undefined) throw new Error(`Expected a text of ${kind}, received none`);
      const spans = entry.spans.map(({ start, end }) => entry.text.slice(start, end));
      return { kind, text: entry.text, secrets: spans.flatMap(tellingParts) };
    }),
  );
  const [planted] = fc.sample(fc.tuple(...plantings), { seed, numRuns: 1 });
  return (planted ?? []) as readonly Planted[];
}

/** A key's lines, each of which would be a leak; of long ones the halves, too, which something that cuts texts could leave. */
function tellingParts(secret: string): readonly string[] {
  const lines = secret.split(/\n|\\n/u).filter((line) => !line.startsWith('-----'));
  return lines
    .flatMap((line) =>
      line.length < 4 * TELLING_LENGTH
        ? [line]
        : [line.slice(0, line.length >> 1), line.slice(line.length >> 1)],
    )
    .filter((part) => part.length >= TELLING_LENGTH);
}

/** The ways in which bytes may hold a text. Of base64 the part that does not depend on what stands before and behind, three times. */
export function formsOf(secret: string): ReadonlyMap<string, Buffer> {
  const utf8 = Buffer.from(secret);
  const forms = new Map<string, Buffer>([
    ['as it is', utf8],
    ['in JSON', Buffer.from(JSON.stringify(secret).slice(1, -1))],
    ['in a URL', Buffer.from(encodeURIComponent(secret))],
    ['in a form', Buffer.from(new URLSearchParams({ a: secret }).toString().slice(2))],
    [
      'percent by percent',
      Buffer.from([...utf8].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')),
    ],
    ['in UTF-16', Buffer.from(secret, 'utf16le')],
    ['in UTF-16, big end first', Buffer.from(secret, 'utf16le').swap16()],
    ['in hexadecimal', Buffer.from(utf8.toString('hex'))],
    ['in capital hexadecimal', Buffer.from(utf8.toString('hex').toUpperCase())],
    ['backwards', Buffer.from(utf8).reverse()],
  ]);
  for (const shift of [0, 1, 2]) {
    const whole = Buffer.concat([Buffer.alloc(shift), utf8]);
    const firstSure = shift === 0 ? 0 : shift + 1;
    const lastSure = Math.floor((whole.length * 8) / 6);
    for (const alphabet of ['base64', 'base64url'] as const)
      forms.set(
        `in ${alphabet}, ${shift} bytes in`,
        Buffer.from(whole.toString(alphabet).slice(firstSure, lastSure)),
      );
  }
  // Of forms that are alike the first.
  const seen = new Set<string>();
  return new Map([...forms].filter(([, bytes]) => seen.size < seen.add(bytes.toString('latin1')).size));
}
