import type { Change, ChangePage } from '../../ports/note-store.js';

/**
 * The entries that a follower at `revision` may apply: those without a gap between them. `pruned` where the first is not
 * the next one, or where the follower is ahead of the log (a store restored from a backup).
 */
export function readChangeWindow(entries: readonly Change[], revision: number, last: number): ChangePage {
  const pruned = entries[0] === undefined ? revision > last : entries[0].revision !== revision + 1;
  if (pruned) return { changes: [], pruned };
  const gap = entries.findIndex((entry, i) => entry.revision !== revision + 1 + i);
  return { changes: gap < 0 ? entries : entries.slice(0, gap), pruned };
}
