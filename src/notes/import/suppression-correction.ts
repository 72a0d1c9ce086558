import { LIMITS } from '../../domain/limits.js';
import type { Attributes } from '../../domain/note.js';
import type { CorrectionInput } from '../../ports/use-cases.js';

/** One `suppress` element as it stands in the file. */
export interface Suppression {
  /** `xs:date`, maybe with an offset. */
  readonly until?: string | undefined;
  readonly elements: { readonly name: string; readonly value: string; readonly regex: boolean }[];
}

const PACKAGES = new Set(['packageUrl', 'gav', 'filePath', 'sha1']);
const SCORES: Readonly<Record<string, string>> = {
  cvssBelow: 'CVSS',
  cvssV2Below: 'CVSS 2',
  cvssV3Below: 'CVSS 3',
  cvssV4Below: 'CVSS 4',
};
const READ = new Set([
  'notes',
  'cpe',
  'cve',
  'cwe',
  'vulnerabilityName',
  ...PACKAGES,
  ...Object.keys(SCORES),
]);
/** Lines in notes that people agreed to write, with what they say. */
const NOTE_LINE = /^(review date|reviewed on|reviewer|reviewed by|next review)\s{0,4}:\s{0,4}(.{1,200})$/iu;
const DATE = /^(\d{4}-\d{2}-\d{2})(Z|[+-]\d{2}:\d{2})?$/u;
/** So many names stand in one sentence before "and … more". */
const MAX_LISTED = 8;
const NO_REASON = 'The project suppresses this finding without a written reason.';

/**
 * Words a suppression as a correction of the scanner: what it claimed, what the notes say is true, and both in one line.
 * The same element always gives the same texts, hence the same note. Pure.
 */
export function toCorrection(
  suppression: Suppression,
  fileName: string,
): { readonly input: CorrectionInput; readonly unread: readonly string[] } {
  const valuesOf = (name: string): string[] =>
    suppression.elements.filter((element) => element.name === name).map(({ value }) => value.trim());
  const packages = suppression.elements
    .filter(({ name, value }) => PACKAGES.has(name) && value.trim() !== '')
    .map(({ name, value, regex }) => readablePackage(name, value.trim(), regex));
  const notes = readNotes(valuesOf('notes').join('\n'));
  const claim = claimOf(suppression, valuesOf);
  const where = packages.length === 0 ? 'any package' : list(packages);
  const reason = notes.reason === '' ? NO_REASON : notes.reason;
  const lessonStart = `Do not report ${claim} for ${where}: `;
  const input: CorrectionInput = {
    taskType: 'dependency-scan',
    wrongAnswer: `The dependency scanner reported ${claim} for ${where}.`,
    correction: reason,
    lesson: cut(lessonStart + reason.replace(/\s+/gu, ' '), LIMITS.lessonLength),
    attributes: attributesOf(packages, valuesOf),
    source: {
      kind: 'suppression',
      tool: 'dependency-check',
      record: fileName,
      ...(notes.reviewer === undefined ? {} : { author: notes.reviewer }),
    },
    createdAt: toInstant(notes.reviewed),
    reviewAfter: toInstant(notes.nextReview),
    expiresAt: toInstant(suppression.until),
  };
  const unread = suppression.elements.map(({ name }) => name).filter((name) => !READ.has(name));
  return { input, unread };
}

function claimOf({ elements }: Suppression, valuesOf: (name: string) => string[]): string {
  const parts: string[] = [];
  const cves = valuesOf('cve');
  const names = elements
    .filter(({ name }) => name === 'vulnerabilityName')
    .map(({ value, regex }) => (regex ? readablePattern(value.trim()) : value.trim()));
  const cwes = valuesOf('cwe').map((cwe) => (/^\d+$/u.test(cwe) ? `CWE-${cwe}` : cwe));
  if (cves.length > 0) {
    parts.push(list(cves));
  }
  if (names.length > 0) {
    parts.push(`vulnerabilities named ${list(names)}`);
  }
  if (cwes.length > 0) {
    parts.push(`vulnerabilities of ${list(cwes)}`);
  }
  const cpes = valuesOf('cpe');
  if (cpes.length > 0) {
    parts.push(`vulnerabilities of ${list(cpes)}`);
  }
  for (const { name, value } of elements) {
    if (SCORES[name] !== undefined) {
      parts.push(`vulnerabilities with a ${SCORES[name]} score below ${value.trim()}`);
    }
  }
  return parts.length === 0 ? 'vulnerabilities' : parts.join(' and ');
}

/** `product`, `package`, `cve` and `cpe`, each only where the element names exactly one. */
function attributesOf(packages: readonly string[], valuesOf: (name: string) => string[]): Attributes {
  const single = (values: readonly string[]): string | undefined =>
    values.length === 1 ? values[0] : undefined;
  const onePackage = single(packages);
  const cpe = single(valuesOf('cpe'));
  const product = onePackage === undefined ? cpe?.split(':')[3] : productOf(onePackage);
  const found = { product, package: onePackage, cve: single(valuesOf('cve')), cpe };
  return Object.fromEntries(
    Object.entries(found).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && entry[1] !== '' && entry[1].length <= LIMITS.attributeValueLength,
    ),
  );
}

/** The artifact's name. None where the pattern stands for several: a guess would be a filter that hides the note. */
function productOf(name: string): string | undefined {
  const artifact = name.replace(/@.*$/u, '').split('/').at(-1) ?? '';
  return /^[\w.-]+$/u.test(artifact) ? artifact : undefined;
}

function readablePackage(element: string, value: string, regex: boolean): string {
  const plain = regex ? readablePattern(value) : value;
  return element === 'packageUrl' ? plain.replace(/^pkg:[a-z]+\//iu, '').replace(/@\*$/u, '') : plain;
}

/** `^pkg:maven/io\.netty/.*@.*$` reads `pkg:maven/io.netty/*@*`. */
function readablePattern(pattern: string): string {
  return pattern
    .replace(/^\^|\$$/gu, '')
    .replace(/\.[*+]\??/gu, '*')
    .replace(/\\([bBAZzs])/gu, '')
    .replace(/\\(.)/gu, '$1');
}

function readNotes(notes: string): {
  readonly reason: string;
  readonly reviewer?: string | undefined;
  readonly reviewed?: string | undefined;
  readonly nextReview?: string | undefined;
} {
  const said = new Map<string, string>();
  const kept: string[] = [];
  for (const line of notes.split(/\r\n|[\n\r]/u).map((text) => text.trim())) {
    const match = NOTE_LINE.exec(line);
    if (match === null) {
      kept.push(line);
    } else {
      said.set((match[1] ?? '').toLowerCase(), (match[2] ?? '').trim());
    }
  }
  return {
    reason: kept.join('\n').trim(),
    reviewer: said.get('reviewer') ?? said.get('reviewed by'),
    reviewed: said.get('review date') ?? said.get('reviewed on'),
    nextReview: said.get('next review'),
  };
}

/** Midnight at the offset given, else in UTC; undefined for what is no date. */
function toInstant(date: string | undefined): string | undefined {
  const match = DATE.exec(date?.trim() ?? '');
  return match === null ? undefined : `${match[1]}T00:00:00${match[2] ?? 'Z'}`;
}

function list(values: readonly string[]): string {
  const more = values.length - MAX_LISTED;
  return more > 0 ? `${values.slice(0, MAX_LISTED).join(', ')} and ${more} more` : values.join(', ');
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/\s+\S*$/u, '')}…`;
}
