/** Terminal colours by meaning; plain text where colours are off. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  warning(text: string): string;
  bad(text: string): string;
}

/** ECMA-48 SGR codes, on and off. */
function sgr(on: number, off: number): (text: string) => string {
  return (text) => `\u001b[${on}m${text}\u001b[${off}m`;
}

const plain = (text: string): string => text;

export function createStyle(colours: boolean): Style {
  if (!colours) return { bold: plain, dim: plain, good: plain, warning: plain, bad: plain };
  return { bold: sgr(1, 22), dim: sgr(2, 22), good: sgr(32, 39), warning: sgr(33, 39), bad: sgr(31, 39) };
}
