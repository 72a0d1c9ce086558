import { ErrataError } from '../domain/errors.js';
import type { NoteId } from '../domain/note.js';
import type { Receipt } from '../domain/retrieval.js';
import type { Keyset, NoteFilter, SourceFilter, Store } from '../ports/note-store.js';
import type { Influence, InfluencedAnswer, InfluenceRequest } from '../ports/use-cases.js';

/** Notes at most that one question or one command covers; a selection of more says so. */
const MAX_NOTES = 1_000;
/** Receipts a note at most, newest first. */
const MAX_RECEIPTS_A_NOTE = 10_000;
/** Receipts at most of a question by time alone, newest first. */
const MAX_RECEIPTS_OF_A_TIME = 50_000;
const PAGE = 200;

/**
 * "Which answers did these notes influence?", from the receipts: exact for what receipts are kept of. One look-up a note,
 * through an index; memory holds an id a receipt. With a time alone, the answers of that time that held any note, and one look-up.
 *
 * Errors: `INVALID_INPUT` where neither notes nor a source nor a time are named.
 */
export async function findInfluence(
  store: Store,
  request: InfluenceRequest,
  first: number,
): Promise<Influence> {
  const { namespace, from, to } = request;
  if (isTimeAlone(request)) return influenceOfTime(store, request, first);
  const selected = await selectNotes(store, request);
  const answers = new Map<string, InfluencedAnswer>();
  let truncated = selected.truncated;
  for (const noteId of selected.ids) {
    const receipts = await store.receipts.listByNote(namespace, noteId, MAX_RECEIPTS_A_NOTE);
    truncated ||= receipts.length === MAX_RECEIPTS_A_NOTE;
    for (const receipt of receipts) {
      if ((from === undefined || receipt.createdAt >= from) && (to === undefined || receipt.createdAt < to)) {
        answers.set(receipt.id, withNote(answers.get(receipt.id), receipt, noteId));
      }
    }
  }
  return summary(answers, { notes: selected.ids.length, truncated }, first);
}

function isTimeAlone({ noteIds = [], source, from, to }: InfluenceRequest): boolean {
  return noteIds.length === 0 && !namesSource(source) && (from !== undefined || to !== undefined);
}

async function influenceOfTime(
  store: Store,
  { namespace, from, to }: InfluenceRequest,
  first: number,
): Promise<Influence> {
  const receipts = await store.receipts.listByTime(namespace, { from, to }, MAX_RECEIPTS_OF_A_TIME);
  const notes = new Set(receipts.flatMap((receipt) => receipt.notes.map(({ noteId }) => noteId)));
  const answers = receipts.map(({ id, createdAt: at, caller, notes: held }): [string, InfluencedAnswer] => [
    id,
    { receiptId: id, at, caller, noteIds: held.map(({ noteId }) => noteId) },
  ]);
  const truncated = receipts.length === MAX_RECEIPTS_OF_A_TIME;
  return summary(new Map(answers), { notes: notes.size, truncated }, first);
}

function summary(
  answers: ReadonlyMap<string, InfluencedAnswer>,
  { notes, truncated }: { readonly notes: number; readonly truncated: boolean },
  first: number,
): Influence {
  const all = [...answers.values()].sort((a, b) => (a.at > b.at ? -1 : a.at < b.at ? 1 : 0));
  const perCaller = new Map<string, number>();
  for (const { caller } of all) perCaller.set(caller, (perCaller.get(caller) ?? 0) + 1);
  return {
    notes,
    answers: all.length,
    callers: [...perCaller]
      .map(([caller, count]) => ({ caller, answers: count }))
      .sort((a, b) => b.answers - a.answers || (a.caller < b.caller ? -1 : 1)),
    firstAt: all.at(-1)?.at,
    lastAt: all[0]?.at,
    newest: all.slice(0, first),
    truncated,
  };
}

function withNote(
  known: InfluencedAnswer | undefined,
  { id, createdAt, caller }: Receipt,
  noteId: NoteId,
): InfluencedAnswer {
  return { receiptId: id, at: createdAt, caller, noteIds: [...(known?.noteIds ?? []), noteId] };
}

async function selectNotes(
  store: Store,
  { namespace, noteIds, source }: InfluenceRequest,
): Promise<{ readonly ids: readonly NoteId[]; readonly truncated: boolean }> {
  if (noteIds !== undefined && noteIds.length > 0) {
    const ids = [...new Set(noteIds)];
    return { ids: ids.slice(0, MAX_NOTES), truncated: ids.length > MAX_NOTES };
  }
  checkSourceFilter(source);
  return notesOf(store, namespace, { source });
}

function namesSource(source: SourceFilter | undefined): boolean {
  return Object.values(source ?? {}).some((value) => typeof value === 'string' && value !== '');
}

/** A selection must name something: an empty one would be every note. */
export function checkSourceFilter(source: SourceFilter | undefined): asserts source is SourceFilter {
  if (!namesSource(source)) {
    throw new ErrataError(
      'INVALID_INPUT',
      'Expected an author, import run or another part of a source, received none',
      { details: { field: 'source' } },
    );
  }
}

/** Ids of the notes that a filter names, oldest first, at most 1,000. */
export async function notesOf(
  store: Store,
  namespace: string,
  filter: NoteFilter,
): Promise<{ readonly ids: readonly NoteId[]; readonly truncated: boolean }> {
  const ids: NoteId[] = [];
  let after: Keyset | undefined;
  for (;;) {
    const page = await store.notes.list([namespace], filter, 'CREATED_ASC', { limit: PAGE, after });
    ids.push(...page.items.map(({ id }) => id));
    after = page.keysets.at(-1);
    if (ids.length >= MAX_NOTES) {
      return { ids: ids.slice(0, MAX_NOTES), truncated: page.hasNext || ids.length > MAX_NOTES };
    }
    if (!page.hasNext || after === undefined) return { ids, truncated: false };
  }
}
