import { ErrataError } from '../domain/errors.js';
import type { Engines } from './installation.js';

/**
 * Engines for commands that only touch the store (keys, jobs, listing): nothing is loaded, nothing is indexed, and whatever
 * needs a model rejects. Other processes follow the store's change log, so that writes made this way reach their indexes.
 */
export function absentEngines(): Engines {
  const absent = async (): Promise<never> => {
    throw new ErrataError(
      'MODEL_UNAVAILABLE',
      'Expected a loaded model, received a command that opened the store only',
    );
  };
  const nothing = async (): Promise<void> => undefined;
  return {
    embedder: {
      model: { id: 'none', name: 'none', dimensions: 1, maxTokens: 0 },
      embed: absent,
      stats: () => ({ truncatedTexts: 0, embeddedTexts: 0, cacheHits: 0, cacheMisses: 0 }),
      close: nothing,
    },
    vectorIndex: {
      dimensions: 1,
      upsert: nothing,
      remove: nothing,
      search: absent,
      scores: absent,
      vectorsOf: absent,
      versionOf: () => undefined,
      count: () => 0,
      compact: absent,
      clear: nothing,
      stats: () => ({ partitions: 0, notes: 0, vectors: 0, tombstones: 0, memoryBytes: 0, isa: 'none' }),
      close: nothing,
    },
    lexicalIndex: {
      upsert: nothing,
      remove: nothing,
      search: absent,
      termStatistics: absent,
      clear: nothing,
      count: () => 0,
      close: nothing,
    },
    fittedScore: undefined,
    similarities: undefined,
    lateInteraction: false,
    close: nothing,
  };
}
