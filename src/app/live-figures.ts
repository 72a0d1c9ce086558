import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';
import type { LiveFigures, WaitingNotes } from '../ports/telemetry.js';
import { countWaiting } from './count-waiting.js';
import type { Engines } from './installation.js';
import { memoryParts } from './memory-parts.js';
import { modelStates } from './model-states.js';

/** A count reads every active note: seconds at 100,000. */
const COUNT_EVERY_MS = 5 * 60_000;
const PAGE = 500;

export interface LiveFigureSource {
  read(): LiveFigures;
  close(): Promise<void>;
}

/** Figures for a scrape; notes are counted in the background, at most every five minutes and only while somebody asks. */
export function createLiveFigures(
  store: Store,
  serving: () => Engines,
  logger: Logger,
  countEveryMs = COUNT_EVERY_MS,
): LiveFigureSource {
  let counted: { readonly active: number; readonly neverUsed: number } | undefined;
  let waiting: WaitingNotes | undefined;
  let nextMs = 0;
  let counting: Promise<void> | undefined;
  let closed = false;

  async function count(): Promise<void> {
    waiting = await countWaiting(store.notes, new Date().toISOString());
    let active = 0;
    let neverUsed = 0;
    let after: string | undefined;
    while (!closed) {
      const page = await store.notes.scanActive(after, PAGE);
      active += page.length;
      neverUsed += page.filter(({ note }) => note.outcomes.retrieved === 0).length;
      after = page.at(-1)?.note.id;
      if (page.length === 0) break;
    }
    if (!closed) counted = { active, neverUsed };
  }

  return {
    read() {
      if (counting === undefined && performance.now() >= nextMs) {
        nextMs = performance.now() + countEveryMs;
        counting = count()
          .catch((error: unknown) => logger.warn({ error }, 'notes could not be counted for metrics'))
          .finally(() => {
            counting = undefined;
          });
      }
      const engines = serving();
      const { embedder, vectorIndex } = engines;
      const { cacheHits, cacheMisses, truncatedTexts, embeddedTexts } = embedder.stats();
      return {
        ...{ cacheHits, cacheMisses, truncatedTexts, embeddedTexts },
        models: modelStates(engines),
        indexedNotes: vectorIndex.count(),
        indexBytes: vectorIndex.stats().memoryBytes,
        memory: memoryParts(store, engines),
        activeNotes: counted?.active,
        neverUsedNotes: counted?.neverUsed,
        waiting,
      };
    },
    async close() {
      closed = true;
      await counting;
    },
  };
}
