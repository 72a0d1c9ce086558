import type { Command } from 'commander';
import { ErrataError } from '../../domain/errors.js';
import { IMPACTS, type Impact, NOTE_STATUSES, type NoteStatus } from '../../domain/note.js';
import type { NamespaceScope, NoteFilter } from '../../ports/note-store.js';
import { attributePair, oneOf, several, severalOf } from '../define-command.js';

/** What `notes list` and `export` choose by. */
export interface FilterOptions {
  readonly namespace: string;
  readonly allNamespaces?: boolean;
  readonly taskType?: readonly string[];
  readonly status?: readonly NoteStatus[];
  readonly impact?: Impact;
  readonly author?: string;
  readonly text?: string;
  readonly attribute?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly to?: string;
}

export function addFilterOptions(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace', 'default')
    .option('--all-namespaces', 'every namespace')
    .option('-t, --task-type <name>', 'several times: any of them', several)
    .option(
      '--status <status>',
      `${NOTE_STATUSES.join(', ')}; several times: any of them`,
      severalOf(NOTE_STATUSES),
    )
    .option('--impact <impact>', IMPACTS.join(', '), oneOf(IMPACTS))
    .option('--author <name>', 'author of any of the sources')
    .option('--text <text>', 'part of the wrong answer, the correction or the lesson')
    .option('-a, --attribute <key=value>', 'several times: all of them', attributePair)
    .option('--from <instant>', 'created at or after; RFC 3339 with offset')
    .option('--to <instant>', 'created before; RFC 3339 with offset');
}

/** RFC 3339 with offset to UTC; a time without an offset would mean another moment on another machine. */
/** What a flag says as an instant. Errors: `INVALID_INPUT`. */
export function instant(value: string, flag: string): string {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.test(value)
    ? Date.parse(value)
    : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new ErrataError(
    'INVALID_INPUT',
    `Expected an instant with offset such as 2026-01-31T09:30:00Z for ${flag}, received ${JSON.stringify(value.slice(0, 40))}`,
  );
}

export function scopeOf(options: FilterOptions): NamespaceScope {
  return options.allNamespaces === true ? 'all' : [options.namespace];
}

export function filterOf(options: FilterOptions): NoteFilter {
  return {
    taskTypes: options.taskType,
    statuses: options.status,
    impact: options.impact,
    author: options.author,
    text: options.text,
    attributes: options.attribute,
    createdFrom: options.from === undefined ? undefined : instant(options.from, '--from'),
    createdTo: options.to === undefined ? undefined : instant(options.to, '--to'),
  };
}
