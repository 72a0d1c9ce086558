import type { NamespaceScope, NoteFilter, NoteOrder } from '../../ports/note-store.js';
import type { GraphqlContext } from '../context.js';
import { PageInfoType, pageCursors } from '../paging/connection.type.js';
import { cursorBinding } from '../paging/cursor-codec.js';
import { type PageArguments, readPageRequest } from '../paging/page-request.js';
import { FeedbackNoteType, NoteConnectionType, NoteEdgeType } from './note.type.js';

export interface NoteListRequest {
  /** Name of the list; cursors of one list are refused by another. */
  readonly list: 'notes' | 'reviewQueue';
  readonly scope: NamespaceScope;
  /** As the caller named it: part of what a cursor is bound to, unlike the caller's grants. */
  readonly namespace: string | null | undefined;
  readonly filter: NoteFilter;
  readonly order: NoteOrder;
  readonly page: PageArguments;
}

/** One use-case call for the page, one more only where totalCount is selected. */
export async function listNotes(
  context: GraphqlContext,
  request: NoteListRequest,
): Promise<NoteConnectionType> {
  const { cursors, loaders, useCases } = context;
  const { list, scope, filter, order, namespace } = request;
  const binding = cursorBinding(list, { namespace: namespace ?? null, filter, order });
  const page = await useCases.notes.list(
    scope,
    filter,
    order,
    readPageRequest(request.page, cursors, binding),
  );
  const edgeCursors = pageCursors(cursors, binding, page.keysets);
  return new NoteConnectionType(
    page.items.map((note, index) => new NoteEdgeType(edgeCursors[index] ?? '', new FeedbackNoteType(note))),
    new PageInfoType(page, edgeCursors),
    () => loaders.count(JSON.stringify([list, scope, filter]), () => useCases.notes.count(scope, filter)),
  );
}
