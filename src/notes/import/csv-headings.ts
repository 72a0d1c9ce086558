/** What a heading may be called, in the form that `squeeze` gives. */
const HEADINGS: ReadonlyMap<string, string> = new Map([
  ...[
    'namespace',
    'taskType',
    'wrongAnswer',
    'correction',
    'lesson',
    'impact',
    'createdAt',
    'expiresAt',
    'reviewAfter',
  ].map((field) => [squeeze(field), field] as const),
  ['task', 'taskType'],
  ['wrong', 'wrongAnswer'],
  ['claim', 'wrongAnswer'],
  ['corrected', 'correction'],
  ['rule', 'lesson'],
  ['created', 'createdAt'],
  ['expires', 'expiresAt'],
  ...['kind', 'author', 'tool', 'url', 'record', 'at'].map(
    (part) => [`source${part}`, `source.${part}`] as const,
  ),
  ...['kind', 'ref', 'state'].map((part) => [`anchor${part}`, `anchor.${part}`] as const),
  ['author', 'source.author'],
  ['reviewer', 'source.author'],
  ['tool', 'source.tool'],
  ['url', 'source.url'],
  ['record', 'source.record'],
]);
const ATTRIBUTE = /^(?:attributes?|attr)[.:](.+)$/iu;

/** The field that a heading names: a correction's, `source.…`, `anchor.…` or `attributes.…`; undefined where it names none. */
export function fieldOfHeading(heading: string): string | undefined {
  const attribute = ATTRIBUTE.exec(heading.trim())?.[1]?.trim();
  return attribute === undefined ? HEADINGS.get(squeeze(heading)) : `attributes.${attribute}`;
}

function squeeze(heading: string): string {
  return heading.replace(/[\s._-]/gu, '').toLowerCase();
}
