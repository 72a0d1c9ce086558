import type { Collection, Filter } from 'mongodb';
import type { Cipher } from '../../ports/cipher.js';
import type { NamespaceScope, NoteFilter } from '../../ports/note-store.js';
import { foldText, searchedText } from '../records/fold-text.js';
import { type NoteDocument, noteFromDocument, WITHOUT_VECTORS } from './mongo-documents.js';
import { noteFilter } from './mongo-note-filter.js';

/**
 * A filter for the server. It cannot look into sealed texts: where a text is asked for, the notes that the other conditions
 * leave are opened here, some 10 µs each, and named by id.
 */
export async function resolveFilter(
  notes: Collection<NoteDocument>,
  cipher: Cipher | undefined,
  scope: NamespaceScope,
  filter: NoteFilter,
): Promise<Filter<NoteDocument>> {
  const { text, ...others } = filter;
  if (cipher === undefined || text === undefined || text === '') return noteFilter(scope, filter);
  const looked = foldText(text);
  const ids: string[] = [];
  for await (const document of notes.find(noteFilter(scope, others), { projection: WITHOUT_VECTORS })) {
    const note = noteFromDocument(document, cipher);
    if (note !== undefined && searchedText(note).includes(looked)) ids.push(note.id);
  }
  return { _id: { $in: ids } };
}
