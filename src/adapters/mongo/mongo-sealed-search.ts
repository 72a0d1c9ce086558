import type { Collection, Filter } from 'mongodb';
import type { Cipher } from '../../ports/cipher.js';
import type { NamespaceScope, NoteFilter } from '../../ports/note-store.js';
import { foldText, searchedText } from '../records/fold-text.js';
import { type NoteDocument, noteFromDocument, WITHOUT_VECTORS } from './mongo-documents.js';
import { noteFilter, sourceParts } from './mongo-note-filter.js';

export interface FilterParts {
  readonly notes: Collection<NoteDocument>;
  readonly cipher: Cipher | undefined;
  /** Whether the server knows `$elemMatch` over documents; FerretDB 1 does not. */
  readonly elemMatch: boolean;
}

/**
 * A filter for the server. What it cannot look for is looked for here, among the notes that the other conditions leave, and
 * those are named by id: several parts of one source on FerretDB 1, and texts that are sealed, some 10 µs each to open.
 */
export async function resolveFilter(
  parts: FilterParts,
  scope: NamespaceScope,
  filter: NoteFilter,
): Promise<Filter<NoteDocument>> {
  const { cipher, elemMatch } = parts;
  const { text, source, ...others } = filter;
  const inSealed = cipher !== undefined && text !== undefined && text !== '';
  const inSources = !elemMatch && sourceParts(source).length > 1;
  if (!inSealed && !inSources) return noteFilter(scope, filter, elemMatch);
  const left = { ...others, source, ...(inSealed ? {} : { text }) };
  return {
    _id: { $in: await matching(parts, noteFilter(scope, left, elemMatch), inSealed ? text : '', source) },
  };
}

async function matching(
  { notes, cipher }: FilterParts,
  filter: Filter<NoteDocument>,
  text: string,
  source: NoteFilter['source'],
): Promise<string[]> {
  const looked = foldText(text);
  const wanted = sourceParts(source);
  const ids: string[] = [];
  for await (const document of notes.find(filter, { projection: WITHOUT_VECTORS })) {
    const note = noteFromDocument(document, cipher);
    const from = note?.sources.some((held) =>
      wanted.every(([part, value]) => held[part as keyof typeof held] === value),
    );
    if (note === undefined || (wanted.length > 0 && from !== true)) continue;
    if (looked === '' || searchedText(note).includes(looked)) ids.push(note.id);
  }
  return ids;
}
