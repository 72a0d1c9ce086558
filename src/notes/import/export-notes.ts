import { LIMITS } from '../../domain/limits.js';
import type { FeedbackNote } from '../../domain/note.js';
import type { Keyset, NamespaceScope, NoteFilter } from '../../ports/note-store.js';
import type { NoteQueries } from '../../ports/use-cases.js';

/**
 * Notes as JSON Lines, oldest first, one line with its line end a note: what `parse-jsonl.ts` reads back, plus id, status,
 * support and findings for people. Vectors are left out: they belong to a model. One page is held in memory at a time.
 */
export async function* exportNotes(
  notes: Pick<NoteQueries, 'list'>,
  scope: NamespaceScope,
  filter: NoteFilter,
): AsyncGenerator<string, void, void> {
  let after: Keyset | undefined;
  for (;;) {
    const page = await notes.list(scope, filter, 'CREATED_ASC', { limit: LIMITS.pageSize, after });
    for (const note of page.items) {
      yield `${JSON.stringify(toLine(note))}\n`;
    }
    after = page.keysets.at(-1);
    if (!page.hasNext || after === undefined) {
      return;
    }
  }
}

function toLine(note: FeedbackNote): object {
  const { id, namespace, taskType, wrongAnswer, correction, lesson, attributes, impact, status } = note;
  const { sources, supportCount, findings, createdAt, updatedAt, expiresAt, reviewAfter, version } = note;
  const { anchors } = note;
  return {
    ...{ id, namespace, taskType, wrongAnswer, correction, lesson, attributes, impact, status },
    ...{ sources, supportCount, findings, createdAt, updatedAt, expiresAt, reviewAfter, version },
    ...{ anchors, supersedes: note.supersedes, supersededBy: note.supersededBy },
  };
}
