import type { Store } from '../ports/note-store.js';
import type { MemoryParts } from '../ports/telemetry.js';
import type { Engines } from './installation.js';

/** What the parts of a process hold. The query cache has the token vectors that late interaction works with, too. */
export function memoryParts(
  store: Store,
  { vectorIndex, lexicalIndex, embedder }: Pick<Engines, 'vectorIndex' | 'lexicalIndex' | 'embedder'>,
): MemoryParts {
  const lexical = lexicalIndex.memoryBytes?.();
  const notes = store.notes.cacheBytes?.();
  const queries = embedder.stats().cacheBytes;
  return {
    ...vectorIndex.stats().memory,
    ...(lexical === undefined ? {} : { 'lexical index': lexical }),
    ...(notes === undefined ? {} : { 'note cache': notes }),
    ...(queries === undefined ? {} : { 'query cache': queries }),
  };
}
