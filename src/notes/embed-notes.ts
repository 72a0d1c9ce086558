import {
  type FeedbackNote,
  lessonText,
  type NoteId,
  type NoteVectors,
  situationText,
} from '../domain/note.js';
import type { Embedder } from '../ports/embedder.js';

type Embeddable = Pick<FeedbackNote, 'id' | 'taskType' | 'lesson' | 'wrongAnswer' | 'correction'>;

export interface EmbeddedNote {
  readonly vectors: NoteVectors;
  /** Whether the lesson is longer than the model reads; a cut situation is normal and only counted in the stats. */
  readonly lessonTruncated: boolean;
}

/** Embeds notes once each, also when the same note is submitted many times at once. */
export interface NoteEmbedder {
  /** One entry a distinct id; one call of the embedder for all that are not already being embedded. */
  embed(
    notes: readonly Embeddable[],
    priority: 'interactive' | 'bulk',
  ): Promise<ReadonlyMap<NoteId, EmbeddedNote>>;
}

/** `inFlight` holds a note only while it is being embedded. Errors: the embedder's. */
export function createNoteEmbedder(embedder: Embedder): NoteEmbedder {
  const inFlight = new Map<NoteId, Promise<EmbeddedNote>>();
  return {
    async embed(notes, priority) {
      const distinct = [...new Map(notes.map((note) => [note.id, note])).values()];
      const fresh = distinct.filter(({ id }) => !inFlight.has(id));
      if (fresh.length > 0) {
        const batch = embedBatch(embedder, fresh, priority);
        fresh.forEach(({ id }, index) => {
          const one = batch.then((all) => all[index] as EmbeddedNote);
          const forget = (): void => void inFlight.delete(id);
          one.then(forget, forget);
          inFlight.set(id, one);
        });
      }
      const waiting = distinct.map(async ({ id }) => [id, await inFlight.get(id)] as const);
      const done = await Promise.all(waiting);
      return new Map(done.flatMap(([id, note]) => (note === undefined ? [] : [[id, note] as const])));
    },
  };
}

/** Texts in pairs: lesson, situation. */
async function embedBatch(
  embedder: Embedder,
  notes: readonly Embeddable[],
  priority: 'interactive' | 'bulk',
): Promise<readonly EmbeddedNote[]> {
  const texts = notes.flatMap((note) => [lessonText(note), situationText(note)]);
  const embeddings = await embedder.embed(texts, { kind: 'passage', priority });
  return notes.map((_, index) => {
    const [lesson, situation] = [embeddings[2 * index], embeddings[2 * index + 1]];
    if (lesson === undefined || situation === undefined) {
      throw new TypeError('Expected one embedding a text from the embedder, received fewer');
    }
    return {
      vectors: { modelId: embedder.model.id, lesson: lesson.vector, situation: situation.vector },
      lessonTruncated: lesson.truncated,
    };
  });
}
