import type { Filter } from 'mongodb';
import type { NamespaceScope, NoteFilter } from '../../ports/note-store.js';
import { foldText } from '../records/fold-text.js';
import { attributePair, type NoteDocument } from './mongo-documents.js';

/** Longest pattern that MongoDB compiles is 32,764 bytes; escaping at most doubles, UTF-8 at most triples. */
const MAX_SEARCH_LENGTH = 5_000;

/** Undefined where the scope is every namespace. */
export function scopeFilter(scope: NamespaceScope): { namespace?: string | { $in: string[] } } {
  if (scope === 'all') return {};
  const [only, ...more] = scope;
  if (only !== undefined && more.length === 0) return { namespace: only };
  return { namespace: { $in: [...new Set(scope)] } };
}

export function noteFilter(scope: NamespaceScope, filter: NoteFilter): Filter<NoteDocument> {
  const { taskTypes, statuses, impact, author, source, text, attributes, createdFrom, createdTo } = filter;
  const conditions: Filter<NoteDocument>[] = [scopeFilter(scope)];
  if (taskTypes !== undefined) conditions.push({ taskType: { $in: [...taskTypes] } });
  if (statuses !== undefined) conditions.push({ status: { $in: [...statuses] } });
  if (impact !== undefined) conditions.push({ impact });
  if (author !== undefined) conditions.push({ 'sources.author': author });
  const wanted = Object.entries(source ?? {}).filter(([, value]) => value !== undefined);
  // FerretDB 1 knows no $elemMatch over documents, which one part can do without.
  if (wanted.length === 1) conditions.push({ [`sources.${wanted[0]?.[0]}`]: wanted[0]?.[1] });
  else if (wanted.length > 1) conditions.push({ sources: { $elemMatch: Object.fromEntries(wanted) } });
  for (const [key, value] of Object.entries(attributes ?? {})) {
    conditions.push({ attributes: attributePair(key, value) });
  }
  const { anchor, assignee, dueBefore } = filter;
  // Kind and reference of one anchor or of two: whoever asks looks at the anchors anyway.
  if (anchor !== undefined) conditions.push({ 'anchors.ref': anchor.ref }, { 'anchors.kind': anchor.kind });
  if (assignee !== undefined) conditions.push({ 'review.assignee': assignee });
  if (dueBefore !== undefined) conditions.push({ 'review.dueAt': { $lt: dueBefore } });
  if (createdFrom !== undefined) conditions.push({ createdAt: { $gte: createdFrom } });
  if (createdTo !== undefined) conditions.push({ createdAt: { $lt: createdTo } });
  if (text !== undefined && text !== '') {
    conditions.push({ searched: { $regex: escapePattern(foldText(text).slice(0, MAX_SEARCH_LENGTH)) } });
  }
  return conditions.length === 1 ? (conditions[0] as Filter<NoteDocument>) : { $and: conditions };
}

/** Literal text for every server's dialect (PCRE, Java, Go). */
function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
