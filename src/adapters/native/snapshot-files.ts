import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { IndexSnapshots, RefusedSnapshot, RestoredSnapshot } from '../../ports/index-snapshots.js';
import type { NativeVectorIndex } from './native-vector-index.js';

export interface SnapshotFilesOptions {
  readonly index: NativeVectorIndex;
  /** Its folder must exist by the first save. */
  readonly path: string;
  readonly modelId: string;
}

/** A writer that was killed leaves its unfinished file; one of this age has no writer any more. */
const STALE_MS = 3_600_000;

/** One file a store, in the form of schema/snapshot-v1.md. */
export class SnapshotFiles implements IndexSnapshots {
  readonly #options: SnapshotFilesOptions;

  constructor(options: SnapshotFilesOptions) {
    this.#options = options;
  }

  async restore(store: string, lastRevision: number): Promise<RestoredSnapshot | RefusedSnapshot> {
    const { index, path: file, modelId } = this.#options;
    await this.#removeStale();
    const outcome = await index.restoreSnapshot({ path: file, model: modelId, store });
    if ('refusal' in outcome || outcome.revision <= lastRevision) return outcome;
    // The store was put back to an earlier state, so what the index holds may never have happened.
    await index.clear();
    return {
      refusal: 'AHEAD_OF_STORE',
      detail: `snapshot of revision ${outcome.revision}, store at ${lastRevision}`,
    };
  }

  async save(store: string, revision: number, last = false): Promise<{ readonly sizeBytes: number }> {
    const { index, path: file, modelId } = this.#options;
    const sizeBytes = await index.saveSnapshot({ path: file, model: modelId, store }, revision, last);
    return { sizeBytes };
  }

  async #removeStale(): Promise<void> {
    const folder = path.dirname(this.#options.path);
    const name = path.basename(this.#options.path);
    const names = await readdir(folder).catch(() => []);
    for (const one of names.filter((entry) => entry.startsWith(`${name}.`) && entry.endsWith('.new'))) {
      const file = path.join(folder, one);
      // Another process may remove it first.
      const age = await stat(file).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age > STALE_MS) await rm(file, { force: true });
    }
  }
}
