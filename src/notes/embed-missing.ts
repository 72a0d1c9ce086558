import { isErased } from '../domain/lifecycle.js';
import type { FeedbackNote } from '../domain/note.js';
import type { NoteStore, StoredNote } from '../ports/note-store.js';
import type { NoteEmbedder } from './embed-notes.js';

/** Embeds notes and stores the vectors beside those of other models. Erased notes are left out; harmless to repeat. */
export async function embedMissing(
  store: Pick<NoteStore, 'putVectors'>,
  embed: NoteEmbedder,
  notes: readonly FeedbackNote[],
  priority: 'interactive' | 'bulk',
): Promise<readonly StoredNote[]> {
  const live = notes.filter((note) => !isErased(note));
  if (live.length === 0) return [];
  const embedded = await embed.embed(live, priority);
  const stored = live.flatMap((note): { note: FeedbackNote; vectors: StoredNote['vectors'] }[] => {
    const vectors = embedded.get(note.id)?.vectors;
    return vectors === undefined ? [] : [{ note, vectors }];
  });
  await store.putVectors(stored.flatMap(({ note: { id }, vectors }) => (vectors ? [{ id, vectors }] : [])));
  return stored;
}
