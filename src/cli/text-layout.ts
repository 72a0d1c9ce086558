/** Columns that a text takes: wide East Asian characters and emoji take two, combining marks none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{Mark}|\p{Default_Ignorable_Code_Point}/u.test(character)) continue;
    width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

/** Hangul, kana, Han, full-width forms (Unicode UAX #11, classes W and F, roughly) and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

/** Text of notes is foreign: control characters could drive the terminal, bidi controls could hide words. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    character === '\n' || character === '\t' ? ' ' : '\ufffd',
  );
}

/** Cuts to a width, with an ellipsis where something was cut. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let result = '';
  let used = 0;
  for (const character of text) {
    const next = displayWidth(character);
    if (used + next > width - 1) break;
    result += character;
    used += next;
  }
  return `${result}…`;
}

/** Words longer than the line are cut at its end; scripts without spaces wrap anywhere. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const room = Math.max(10, width - indent.length);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/u).filter((part) => part !== '')) {
    let rest = word;
    const joined = line === '' ? rest : `${line} ${rest}`;
    if (displayWidth(joined) <= room) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    while (displayWidth(rest) > room) {
      let part = '';
      for (const character of rest) {
        if (displayWidth(part) + displayWidth(character) > room) break;
        part += character;
      }
      lines.push(part);
      rest = rest.slice(part.length);
    }
    line = rest;
  }
  if (line !== '') lines.push(line);
  return lines.map((content) => `${indent}${content}`);
}

/** Left-aligned columns two spaces apart; the last one takes the room that is left. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => displayWidth(row[column] ?? ''))));
  const last = head.length - 1;
  const used = widths.slice(0, last).reduce((sum, value) => sum + value + 2, 0);
  return all.map((row) =>
    row
      .map((cell, column) => {
        if (column === last) return truncate(cell, Math.max(8, width - used));
        return cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell)));
      })
      .join('  ')
      .trimEnd(),
  );
}
