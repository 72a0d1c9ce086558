import type { Caller } from '../domain/api-key.js';
import { LIMITS } from '../domain/limits.js';
import type { NoteSource } from '../domain/note.js';

/** What makes two sources the same: everything but the time. */
function sourceKey({ kind, author, tool, url, record }: NoteSource): string {
  return JSON.stringify([kind, author, tool, url, record].map((part) => part ?? null));
}

/** Where a correction came from when it does not say: the interface, and whose key it was. */
export function defaultSource(caller: Caller): NoteSource {
  return { kind: 'api', author: caller.name };
}

/** A list of sources and how many of `added` could not be kept because it is full. */
export interface JoinedSources {
  readonly sources: readonly NoteSource[];
  readonly dropped: number;
}

/** Appends the sources that are not there yet, up to `LIMITS.sourcesPerNote`. */
export function joinSources(held: readonly NoteSource[], added: readonly NoteSource[]): JoinedSources {
  const byKey = new Map(held.map((source) => [sourceKey(source), source]));
  let dropped = 0;
  for (const source of added) {
    const key = sourceKey(source);
    if (!byKey.has(key)) {
      if (byKey.size >= LIMITS.sourcesPerNote) {
        dropped += 1;
      } else {
        byKey.set(key, source);
      }
    }
  }
  return { sources: byKey.size === held.length ? held : [...byKey.values()], dropped };
}
