import type { FeedbackNote } from '../../../src/domain/note.js';
import type {
  Keyset,
  NamespaceScope,
  NoteFilter,
  NoteOrder,
  Page,
  PageRequest,
} from '../../../src/ports/note-store.js';

/** Case folding in its plainest form, enough for the words of the suite. */
const folded = (text: string): string =>
  text.toUpperCase().toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i');

function matches(note: FeedbackNote, scope: NamespaceScope, filter: NoteFilter): boolean {
  const texts = [note.wrongAnswer, note.correction, note.lesson].map(folded);
  return (
    (scope === 'all' || scope.includes(note.namespace)) &&
    (filter.taskTypes?.includes(note.taskType) ?? true) &&
    (filter.statuses?.includes(note.status) ?? true) &&
    (filter.impact ?? note.impact) === note.impact &&
    (filter.source === undefined ||
      note.sources.some((source) =>
        Object.entries(filter.source ?? {}).every(
          ([field, value]) => source[field as keyof typeof source] === value,
        ),
      )) &&
    (filter.author === undefined || note.sources.some((source) => source.author === filter.author)) &&
    (filter.text === undefined || texts.some((text) => text.includes(folded(filter.text ?? '')))) &&
    Object.entries(filter.attributes ?? {}).every(([key, value]) => note.attributes[key] === value) &&
    (filter.anchor === undefined ||
      (note.anchors ?? []).some(
        ({ kind, ref }) => kind === filter.anchor?.kind && ref === filter.anchor.ref,
      )) &&
    (filter.assignee === undefined || note.review?.assignee === filter.assignee) &&
    (filter.dueBefore === undefined || (note.review !== undefined && note.review.dueAt < filter.dueBefore)) &&
    note.createdAt >= (filter.createdFrom ?? '') &&
    (filter.createdTo === undefined || note.createdAt < filter.createdTo)
  );
}

export function naiveKeyset(note: FeedbackNote, order: NoteOrder): Keyset {
  if (order === 'UPDATED_DESC') return [note.updatedAt, note.id];
  if (order !== 'RISK_DESC') return [note.createdAt, note.id];
  const impact = ['HIGH', 'NORMAL', 'LOW'].indexOf(note.impact);
  return [(note.status === 'QUARANTINED' ? 0 : 3) + impact, note.review?.openedAt ?? note.createdAt, note.id];
}

function compare(a: Keyset, b: Keyset): number {
  const i = a.findIndex((value, k) => value !== b[k]);
  return i < 0 ? 0 : a[i]! < b[i]! ? -1 : 1;
}

/** The port's list in its plainest form: filter, sort, cut. */
export function naivePage(
  notes: readonly FeedbackNote[],
  scope: NamespaceScope,
  filter: NoteFilter,
  order: NoteOrder,
  page: PageRequest,
): Page<FeedbackNote> {
  const sign = order === 'CREATED_DESC' || order === 'UPDATED_DESC' ? -1 : 1;
  const place = (note: FeedbackNote, position: Keyset) => sign * compare(naiveKeyset(note, order), position);
  const all = notes
    .filter((note) => matches(note, scope, filter))
    .sort((a, b) => place(a, naiveKeyset(b, order)));
  const { after, before, limit, backwards } = page;
  const start = after === undefined ? 0 : all.filter((note) => place(note, after) <= 0).length;
  const end = before === undefined ? all.length : all.filter((note) => place(note, before) < 0).length;
  const range = start < end ? all.slice(start, end) : [];
  const items = backwards ? range.slice(-limit) : range.slice(0, limit);
  return {
    items,
    keysets: items.map((note) => naiveKeyset(note, order)),
    hasNext: end < all.length || (!backwards && range.length > limit),
    hasPrevious: start > 0 || (backwards === true && range.length > limit),
  };
}

export function naiveCount(
  notes: readonly FeedbackNote[],
  scope: NamespaceScope,
  filter: NoteFilter,
): number {
  return notes.filter((note) => matches(note, scope, filter)).length;
}
