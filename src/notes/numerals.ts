/**
 * Number words that say nothing else in any of the languages (so no English "once", Spanish for 11, no French "neuf",
 * "new", and no words for 1, which are articles). Missing one only makes the guard laxer by that word.
 */
const WORDS: Readonly<Record<string, string>> = {
  // English
  two: '2',
  three: '3',
  four: '4',
  five: '5',
  seven: '7',
  eight: '8',
  nine: '9',
  ten: '10',
  eleven: '11',
  twelve: '12',
  twenty: '20',
  thirty: '30',
  fifty: '50',
  hundred: '100',
  thousand: '1000',
  million: '1000000',
  // German
  zwei: '2',
  drei: '3',
  vier: '4',
  fünf: '5',
  sechs: '6',
  sieben: '7',
  acht: '8',
  neun: '9',
  zehn: '10',
  elf: '11',
  zwölf: '12',
  zwanzig: '20',
  dreißig: '30',
  fünfzig: '50',
  hundert: '100',
  tausend: '1000',
  // French
  deux: '2',
  trois: '3',
  quatre: '4',
  cinq: '5',
  sept: '7',
  huit: '8',
  dix: '10',
  onze: '11',
  douze: '12',
  vingt: '20',
  trente: '30',
  cent: '100',
  mille: '1000',
  // Spanish
  dos: '2',
  tres: '3',
  cuatro: '4',
  cinco: '5',
  siete: '7',
  ocho: '8',
  nueve: '9',
  diez: '10',
  doce: '12',
  veinte: '20',
  treinta: '30',
  cien: '100',
  mil: '1000',
  // Portuguese
  dois: '2',
  duas: '2',
  três: '3',
  quatro: '4',
  sete: '7',
  oito: '8',
  nove: '9',
  dez: '10',
  doze: '12',
  vinte: '20',
  trinta: '30',
  cem: '100',
  // English and French write "six" alike; Spanish and Portuguese "seis"
  six: '6',
  seis: '6',
};

/** A run of digits with what holds it together: versions, dates, times, decimals, thousands. */
const NUMERAL = /\d+(?:[.,:/-]\d+)*/gu;
const WORD = /\p{L}+/gu;
const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[a-z]+/g;
/** Kanji numerals before a counter: alone they are parts of words. */
const KANJI = /[一二三四五六七八九十百千万]+(?=[日年月週時分秒回件個人円本枚度%])/gu;

/**
 * Every number of a text, as written but for digits of other scripts (turned ASCII), number words (turned digits) and
 * grouping by commas, spaces or apostrophes (removed). "1.000" stays apart from "1000": it may be a version. Linear.
 */
export function numbersOf(text: string): ReadonlySet<string> {
  if (ASCII.test(text)) return asciiNumbersOf(text.toLowerCase());
  const plain = text
    .normalize('NFKC')
    .replace(/\p{Nd}/gu, toAsciiDigit)
    .toLowerCase()
    .replace(/(?<=\d)[\u0020\u00a0\u202f'’](?=\d{3}(?!\d))/gu, '');
  const found = new Set<string>();
  for (const [numeral] of plain.matchAll(NUMERAL)) {
    found.add(/^\d{1,3}(?:,\d{3})+$/u.test(numeral) ? numeral.replaceAll(',', '') : numeral);
  }
  for (const [word] of plain.matchAll(WORD)) {
    const value = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
    if (value !== undefined) {
      found.add(value);
    }
  }
  for (const [numeral] of plain.matchAll(KANJI)) {
    found.add(numeral);
  }
  return found;
}

/** The same for ASCII in lower case, which most texts are: of what is done above only this can change anything. */
function asciiNumbersOf(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  if (/\d/.test(text)) {
    const plain = text.replace(/(?<=\d)[ '](?=\d{3}(?!\d))/g, '');
    for (const numeral of plain.match(NUMERAL) ?? [])
      found.add(/^\d{1,3}(?:,\d{3})+$/.test(numeral) ? numeral.replaceAll(',', '') : numeral);
  }
  for (const word of text.match(ASCII_WORD) ?? []) {
    const value = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
    if (value !== undefined) found.add(value);
  }
  return found;
}

/** Decimal digits stand in runs of ten that start at a multiple… of no fixed number, so count down to the run's zero. */
function toAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  if (code < 0x80) {
    return digit;
  }
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) {
    zero -= 1;
  }
  return String(code - zero);
}
