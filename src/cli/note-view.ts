import type { FeedbackNote, Finding } from '../domain/note.js';
import type { ScoredNote } from '../domain/retrieval.js';
import type { Session } from './session.js';
import { printable, table, wrap } from './text-layout.js';

function date(instant: string): string {
  return instant.slice(0, 10);
}

function status(note: FeedbackNote, { style }: Session): string {
  if (note.status === 'ACTIVE') return style.good(note.status);
  return note.status === 'QUARANTINED' ? style.bad(note.status) : style.warning(note.status);
}

/** Three or more lines: the whole id (to be copied), what and when, the lesson. */
export function noteLines(note: FeedbackNote, session: Session, indent = ''): string[] {
  const { style, width } = session;
  const facts = [note.taskType, date(note.createdAt), `support ${note.supportCount}`];
  if (note.impact !== 'NORMAL') facts.push(`impact ${note.impact}`);
  return [
    `${indent}${style.bold(note.id)} ${status(note, session)}`,
    `${indent}  ${style.dim(facts.map(printable).join(' · '))}`,
    ...wrap(printable(note.lesson), width, `${indent}  `),
  ];
}

export function scoredLines(scored: readonly ScoredNote[], session: Session): string[] {
  return scored.flatMap(({ note, score }, index) => [
    `${index + 1}. score ${score.toFixed(3)}`,
    ...noteLines(note, session, '   '),
  ]);
}

export function findingLines(findings: readonly Finding[], { width }: Session): string[] {
  return findings.flatMap(({ rule, field, reason }) =>
    wrap(printable(`${rule} (${field}): ${reason}`), width, '  '),
  );
}

/** Every field of a note, for `notes show`. */
export function noteDetails(note: FeedbackNote, session: Session): string[] {
  const { style, width } = session;
  const block = (name: string, text: string): string[] => [
    style.bold(name),
    ...wrap(printable(text), width, '  '),
  ];
  const facts: [string, string | undefined][] = [
    ['id', note.id],
    ['namespace', note.namespace],
    ['task type', note.taskType],
    ['status', note.status],
    ['impact', note.impact],
    ['version', String(note.version)],
    ['support', String(note.supportCount)],
    ['created', note.createdAt],
    ['updated', note.updatedAt],
    ['expires', note.expiresAt],
    ['review after', note.reviewAfter],
    ['contested by', note.contestedBy],
    [
      'depends on',
      note.anchors
        ?.map(({ kind, ref, state, changedTo }) => `${kind} ${ref} ${changedTo ?? state}`)
        .join(', '),
    ],
    ['waits for', note.review && `${note.review.cause}, due ${note.review.dueAt}`],
    ['superseded by', note.supersededBy],
    ['supersedes', note.supersedes.join(' ') || undefined],
    ['embedded by', note.embeddingModel],
    [
      'attributes',
      Object.entries(note.attributes)
        .map((pair) => pair.join('='))
        .join(', ') || undefined,
    ],
    [
      'outcomes',
      Object.entries(note.outcomes)
        .map(([name, count]) => `${name} ${count}`)
        .join(', '),
    ],
  ];
  const known = facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
  return [
    ...known.map(([name, value]) => `${name.padEnd(14)}${printable(value)}`),
    ...block('lesson', note.lesson),
    ...block('wrong answer', note.wrongAnswer),
    ...block('correction', note.correction),
    ...(note.sources.length === 0 ? [] : [style.bold('sources'), ...sourceLines(note, width)]),
    ...(note.findings.length === 0 ? [] : [style.bold('findings'), ...findingLines(note.findings, session)]),
  ];
}

function sourceLines(note: FeedbackNote, width: number): string[] {
  const rows = note.sources.map((source) => [
    printable(source.kind),
    printable(source.author ?? ''),
    printable(source.record ?? source.url ?? source.tool ?? ''),
  ]);
  return table(['kind', 'author', 'record'], rows, width - 2).map((line) => `  ${line}`);
}
