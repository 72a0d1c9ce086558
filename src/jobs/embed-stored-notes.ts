import { ErrataError, isErrataError } from '../domain/errors.js';
import { isErased } from '../domain/lifecycle.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import { withoutStoreFields } from '../notes/change-note.js';
import { createNoteEmbedder } from '../notes/embed-notes.js';
import type { Clock } from '../ports/clock.js';
import type { Embedder } from '../ports/embedder.js';
import type { NoteStore } from '../ports/note-store.js';
import type { JobContext, JobHandler } from './job-handler.js';

/** Notes a batch: 256 texts, enough to keep every worker busy and little to do again after a kill. */
const BATCH = 128;

export interface EmbedJobDeps {
  readonly notes: NoteStore;
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly catchUp: () => Promise<void>;
}

/** Embeds notes that lack vectors of the current model. Resumes behind the last written batch. */
export function backfillHandler(deps: EmbedJobDeps): JobHandler {
  const { notes, embedder } = deps;
  return (context) =>
    embedAll(deps, context, (afterId) =>
      notes.scanWithoutModel(embedder.model.id, context.job.namespace, afterId, BATCH),
    );
}

/** Embeds every note again, also those that have vectors. */
export function reembedHandler(deps: EmbedJobDeps): JobHandler {
  return (context) =>
    embedAll(deps, context, async (afterId) => {
      const { namespace } = context.job;
      // Pages of another namespace's notes are walked through, so that an empty batch means the end.
      for (let after = afterId; ; ) {
        const versions = await deps.notes.versions(after, BATCH);
        const wanted = versions.filter((entry) => namespace === undefined || entry.namespace === namespace);
        const loaded = await deps.notes.load(wanted.map(({ id }) => id));
        if (loaded.length > 0 || versions.length < BATCH) {
          return loaded.map(({ note }) => note).sort((a, b) => (a.id < b.id ? -1 : 1));
        }
        after = versions.at(-1)?.id;
      }
    });
}

async function embedAll(
  deps: EmbedJobDeps,
  { job, checkpoint }: JobContext,
  nextBatch: (afterId: NoteId | undefined) => Promise<readonly FeedbackNote[]>,
): Promise<string> {
  const embed = createNoteEmbedder(deps.embedder);
  let cursor = job.cursor;
  let done = job.done;
  for (;;) {
    const batch = await nextBatch(cursor);
    const last = batch.at(-1);
    if (last === undefined) break;
    const live = batch.filter((note) => !isErased(note));
    const vectors = await embed.embed(live, 'bulk');
    for (const note of live) {
      const embedded = vectors.get(note.id);
      if (embedded === undefined)
        throw new ErrataError('INTERNAL', 'Expected vectors for every note, received fewer');
      if (await write(deps, note, embedded.vectors, job.kind)) done += 1;
    }
    cursor = last.id;
    await checkpoint({ done, cursor, message: `${done} notes embedded` });
  }
  await deps.catchUp();
  return `${done} notes embedded with ${deps.embedder.model.id}`;
}

/** False where someone else changed the note meanwhile: whoever edits a text embeds it, too. */
async function write(
  { notes, clock }: EmbedJobDeps,
  note: FeedbackNote,
  vectors: Parameters<NoteStore['update']>[0]['vectors'],
  kind: string,
): Promise<boolean> {
  const at = clock.now();
  const changes = [`embeddingModel: ${note.embeddingModel ?? 'none'} → ${vectors?.modelId ?? 'none'}`];
  try {
    await notes.update({
      note: withoutStoreFields(note),
      expectedVersion: note.version,
      vectors,
      audit: { at, actor: `job:${kind}`, origin: { via: 'JOB' as const }, action: 'embedded', changes },
    });
    return true;
  } catch (error) {
    if (isErrataError(error, 'VERSION_CONFLICT')) return false;
    throw error;
  }
}
