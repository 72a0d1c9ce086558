import { extractIdentifiers } from '../domain/identifiers.js';

/**
 * What a text calls things by, grouped by kind: `cve-2021-44228` is of the kind `cve-9-9`, `server.requesttimeout` of `server.`,
 * `Art. 33` of `art 9`. Two texts that name different things of one kind are about different things, however alike they read.
 */
export type Names = ReadonlyMap<string, ReadonlySet<string>>;

const FIRST_IS_LETTER = /^\p{L}/u;
const DIGIT = /\p{N}/u;
const DIGITS = /\p{N}+/gu;
/**
 * `Art. 33`, `§ 613a`, `HTTP 409`, `UCC 2-207`: words that number a part of something, and abbreviations. Other words before numbers
 * (`Node 20`, `costs 175`) tell a version or an amount, of which a rule for one often holds for the other.
 */
const LABELLED_NUMBER =
  /(?<![\p{L}\p{N}])(§|\p{Lu}{2,}|[Aa]rt(?:icles?|ikel|ículo|igo)?|[Ss]ec(?:tion)?|[Cc]lause|[Kk]lausel|[Mm]odule?|[Aa]nnex|[Ss]chedule|[Rr]ule)\.?\s+(\p{N}+(?:[.,-]\p{N}+)*\p{Ll}?)(?![\p{L}\p{N}])/gu;
const FIRST_PART = /^[^.:]+(?:\.|::)/u;

/** Linear in the text. */
export function namesIn(text: string): Names {
  const names = new Map<string, Set<string>>();
  const add = (kind: string, name: string): void => {
    const known = names.get(kind);
    if (known === undefined) names.set(kind, new Set([name]));
    else known.add(name);
  };
  for (const identifier of extractIdentifiers(text)) {
    // `1.1.1s` and `4e12` are versions and amounts.
    if (!FIRST_IS_LETTER.test(identifier)) continue;
    if (DIGIT.test(identifier)) add(identifier.replace(DIGITS, '9'), identifier);
    else {
      const [first] = FIRST_PART.exec(identifier) ?? [];
      if (first !== undefined) add(first, identifier);
    }
  }
  for (const [, label = '', number = ''] of text.matchAll(LABELLED_NUMBER))
    add(`${label.toLowerCase()} 9`, number);
  return names;
}

/** Whether the query names something of a kind that the note names, too, but not this. */
export function namesAnother(query: Names, note: Names): boolean {
  for (const [kind, asked] of query) {
    const held = note.get(kind);
    if (held !== undefined && [...asked].some((name) => !held.has(name))) return true;
  }
  return false;
}
