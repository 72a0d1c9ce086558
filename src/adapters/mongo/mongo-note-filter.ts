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

/** `elemMatch`: whether the server knows it over documents; without, a filter on several parts of a source finds too much. */
export function noteFilter(
  scope: NamespaceScope,
  filter: NoteFilter,
  elemMatch: boolean,
): Filter<NoteDocument> {
  const { taskTypes, statuses, impact, author, source, text, attributes, createdFrom, createdTo } = filter;
  const conditions: Filter<NoteDocument>[] = [scopeFilter(scope)];
  if (taskTypes !== undefined) conditions.push({ taskType: { $in: [...taskTypes] } });
  if (statuses !== undefined) conditions.push({ status: { $in: [...statuses] } });
  if (impact !== undefined) conditions.push({ impact });
  if (author !== undefined) conditions.push({ 'sources.author': author });
  conditions.push(...sourceConditions(source, elemMatch));
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

/** One source with all the parts. Without `$elemMatch` each part in some source: one part needs no more. */
function sourceConditions(source: NoteFilter['source'], elemMatch: boolean): readonly Filter<NoteDocument>[] {
  const wanted = sourceParts(source);
  return elemMatch && wanted.length > 1
    ? [{ sources: { $elemMatch: Object.fromEntries(wanted) } }]
    : wanted.map(([part, value]) => ({ [`sources.${part}`]: value }));
}

/** Parts of a source that are asked for. */
export function sourceParts(source: NoteFilter['source']): readonly (readonly [string, string])[] {
  return Object.entries(source ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined);
}

/** Literal text for every server's dialect (PCRE, Java, Go). */
function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
