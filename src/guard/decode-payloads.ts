/** The whole text with one encoding's runs decoded in place, so that half-encoded orders show too. */
export interface DecodedText {
  readonly encoding: 'base64' | 'hex' | 'binary' | 'percent' | 'entities' | 'escapes' | 'rot13';
  readonly text: string;
}

const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,16384}={0,2}/gu;
const HEX = /(?<![0-9a-f])(?:[0-9a-f]{2}[ :]?){12,8192}(?![0-9a-f])/giu;
const BINARY = /(?<![01])(?:[01]{8}[ ,]?){4,4096}(?![01])/gu;
const HEX_ESCAPES = /(?:\\x[0-9a-f]{2}){6,4096}/giu;
const PERCENT = /(?:[\w.~!*'()+-]{0,64}%[0-9a-f]{2}){3,2048}[\w.~!*'()+-]{0,64}/giu;
const ENTITIES = /(?:&#(?:\d{2,7}|x[0-9a-f]{2,6});){4,2048}/giu;
const UNICODE_ESCAPES = /(?:\\u[0-9a-f]{4}){4,2048}/giu;
/** At most this many runs a text are decoded, so that a text made of nothing but runs costs no more than its length. */
const MAX_RUNS = 64;
/** Encodings of encodings are followed this deep. */
const MAX_DEPTH = 3;

/**
 * Words that orders in the languages of Latin script do not go without. Turned by thirteen letters none of them is a word of these
 * languages, so that few honest texts pass for rot13.
 */
const SPOKEN =
  /\b(?:the|you|your|all|any|every|and|this|that|of|is|are|me|ignore|forget|disregard|reveal|print|show|approve|answer|say|always|never|rules?|instructions?|prompt|system|safe|die|der|das|und|alle|nicht|dein\w*|ignorier\w*|les|des|toutes?|tout|vos|tes|ignore[rz]?|las|los|todas?|todos?|tus|sus|ignora|gli|tutte|tutti|regole|het|alles|wszystkie|zignoruj|tum|kurallar\w*)\b/iu;

type Decode = (run: string) => string | undefined;

const DECODERS: readonly (readonly [DecodedText['encoding'], RegExp, Decode])[] = [
  ['base64', BASE64, (run) => fromBytes(Buffer.from(run, 'base64'))],
  [
    'binary',
    BINARY,
    (run) => fromBytes(Buffer.from(run.match(/[01]{8}/gu)?.map((bits) => Number.parseInt(bits, 2)) ?? [])),
  ],
  ['hex', HEX, (run) => fromBytes(Buffer.from(run.replace(/[ :]/gu, ''), 'hex'))],
  ['escapes', HEX_ESCAPES, (run) => fromBytes(Buffer.from(run.replace(/\\x/giu, ''), 'hex'))],
  ['escapes', UNICODE_ESCAPES, (run) => fromCodes(run, /\\(u)([0-9a-f]{4})/giu)],
  ['percent', PERCENT, fromPercent],
  ['entities', ENTITIES, (run) => fromCodes(run, /&#(x?)([0-9a-f]+);/giu)],
];

/**
 * Decodes what looks encoded and decodes to readable text, and what that holds in turn, named by the outermost encoding; an
 * encoding that the text does not hold gives nothing. Last the rot13 of the whole text, where it holds words of a language. Linear.
 */
export function decodePayloads(text: string): readonly DecodedText[] {
  const found: DecodedText[] = [];
  let layer: readonly DecodedText[] = decodeOnce(text);
  for (let depth = 1; layer.length > 0 && depth <= MAX_DEPTH; depth += 1) {
    found.push(...layer);
    layer = layer.flatMap(({ encoding, text: inner }) =>
      decodeOnce(inner).map((decoded) => ({ ...decoded, encoding })),
    );
  }
  const rotated = text.replace(/[a-z]/giu, rotate);
  if (SPOKEN.test(rotated)) found.push({ encoding: 'rot13', text: rotated });
  return found;
}

function decodeOnce(text: string): readonly DecodedText[] {
  return DECODERS.flatMap(([encoding, pattern, decode]) => {
    let runs = 0;
    const decodedText = text.replace(pattern, (run) => {
      runs += 1;
      const decoded = runs > MAX_RUNS ? undefined : decode(run);
      return decoded !== undefined && isReadable(decoded) ? ` ${decoded} ` : run;
    });
    return decodedText === text ? [] : [{ encoding, text: decodedText }];
  });
}

function fromBytes(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Not UTF-8, hence not a hidden text: the normal case for keys and digests.
    return undefined;
  }
}

function fromPercent(run: string): string | undefined {
  try {
    return decodeURIComponent(run.replace(/\+/gu, ' '));
  } catch {
    // Malformed escapes are what they look like.
    return undefined;
  }
}

function fromCodes(run: string, pattern: RegExp): string {
  return [...run.matchAll(pattern)]
    .map((match) => Number.parseInt(match[2] ?? '', (match[1] ?? '') === '' ? 10 : 16))
    .map((code) => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''))
    .join('');
}

/** At least 4 characters, nearly all of them letters, spaces or punctuation. */
function isReadable(text: string): boolean {
  const readable = text.match(/[\p{L}\p{N}\p{P}\p{Zs}\n]/gu)?.length ?? 0;
  return text.length >= 4 && readable >= text.length * 0.9;
}

function rotate(letter: string): string {
  const base = letter <= 'Z' ? 65 : 97;
  return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
}
