import type { NoteId } from '../domain/note.js';
import { readServedModel } from '../jobs/model-switch.js';
import { embedMissing } from '../notes/embed-missing.js';
import { createNoteEmbedder } from '../notes/embed-notes.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';
import type { Engines } from './installation.js';
import type { ModelGeneration } from './model-generation.js';
import type { ModelSlot } from './model-slot.js';

/** How soon a process learns that the installation answers with another model. */
const POLL_MS = 1_000;
const BATCH = 128;

export interface ModelFollowerParts {
  readonly store: Store;
  readonly slot: ModelSlot;
  readonly logger: Logger;
  readonly openEngines: (name: string) => Promise<Engines>;
  readonly createGeneration: (engines: Engines) => Promise<ModelGeneration>;
}

/**
 * Lets a running process follow the setting that says which model is served: loads the other model and fills its index while
 * the old one answers, then replaces it in one step. A process that cannot (files missing, say) goes on with the old one, says
 * so in its log and tries again.
 */
export class ModelFollower {
  readonly #parts: ModelFollowerParts;
  /** Engines that this follower opened and that serve. */
  #engines: Engines | undefined;
  #working: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #complained = '';

  constructor(parts: ModelFollowerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look(), POLL_MS).unref();
  }

  /** Never rejects. */
  look(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#working ??= this.#follow()
      .catch((error: unknown) => {
        const text = String(error);
        // Once a reason: the next look is a second away.
        if (text !== this.#complained)
          this.#parts.logger.error({ error }, 'the served model could not be loaded');
        this.#complained = text;
      })
      .finally(() => {
        this.#working = undefined;
      });
    return this.#working;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#working;
    await this.#engines?.close();
  }

  async #follow(): Promise<void> {
    const { store, slot, logger, openEngines, createGeneration } = this.#parts;
    const served = await readServedModel(store);
    const before = slot.current.engines.embedder.model.id;
    if (served === undefined || served.modelId === before) return;
    const engines = await openEngines(served.name);
    const { id } = engines.embedder.model;
    if (id === before) return engines.close();
    const next = await createGeneration(engines);
    await mendAll(store, engines);
    await next.retrieveDeps.follower.resync();
    await slot.current.catchUp();
    await next.catchUp();
    const opened = this.#engines;
    this.#engines = engines;
    const old = await slot.replace(next);
    logger.info({ from: before, to: id }, 'model changed');
    await old.close();
    // Engines that came with the process belong to whoever opened them, but nothing asks them any more.
    await (opened ?? old.engines).close();
  }
}

/** What was written with the old model since everything was embedded: a handful. */
async function mendAll(store: Store, { embedder }: Engines): Promise<void> {
  const embed = createNoteEmbedder(embedder);
  for (let after: NoteId | undefined; ; ) {
    const batch = await store.notes.scanWithoutModel(embedder.model.id, undefined, after, BATCH);
    await embedMissing(store.notes, embed, batch, 'bulk');
    after = batch.at(-1)?.id;
    if (after === undefined) return;
  }
}
