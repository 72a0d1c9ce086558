const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/gu;

export interface DecodedText {
  readonly text: string;
  /** Where each character of `text` begins in the encoded one, and where the last ends: one entry more than characters. */
  readonly positions: readonly number[];
}

/**
 * A text with its percent escapes (`%3A`) decoded, as they stand in addresses; undefined where there are none. Bytes that are no UTF-8
 * count as one character each. Linear.
 */
export function decodePercent(text: string): DecodedText | undefined {
  let decoded = '';
  const positions: number[] = [];
  let from = 0;
  const copy = (to: number): void => {
    for (let at = from; at < to; at += 1) positions.push(at);
    decoded += text.slice(from, to);
  };
  for (const { 0: run, index } of text.matchAll(ESCAPES)) {
    copy(index);
    const bytes = Buffer.from(run.replaceAll('%', ''), 'hex');
    const utf8 = bytes.toString('utf8');
    const isUtf8 = !utf8.includes('\ufffd');
    let at = index;
    for (const character of isUtf8 ? utf8 : bytes.toString('latin1')) {
      for (let unit = 0; unit < character.length; unit += 1) positions.push(at);
      at += 3 * (isUtf8 ? Buffer.byteLength(character) : 1);
      decoded += character;
    }
    from = index + run.length;
  }
  if (from === 0) return undefined;
  copy(text.length);
  positions.push(text.length);
  return { text: decoded, positions };
}
