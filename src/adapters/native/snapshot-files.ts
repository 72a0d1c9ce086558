import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Cipher } from '../../ports/cipher.js';
import type { IndexSnapshots, RefusedSnapshot, RestoredSnapshot } from '../../ports/index-snapshots.js';
import type { NativeVectorIndex } from './native-vector-index.js';
import { readSealedFile, type SealedFileTrouble, writeSealedFile } from './sealed-file.js';
import type { SnapshotOwner } from './snapshot-directory.js';

export interface SnapshotFilesOptions {
  readonly index: NativeVectorIndex;
  /** Its folder must exist by the first save. */
  readonly path: string;
  readonly modelId: string;
  /** With it the file is sealed (schema/sealed-snapshot-v1.md), and the index's vectors never lie plain on the disk. */
  readonly cipher?: Cipher | undefined;
}

const TROUBLE: Readonly<Record<SealedFileTrouble, string>> = {
  ABSENT: 'no sealed snapshot',
  NOT_A_SNAPSHOT: "the first bytes are not a sealed snapshot's",
  TRUNCATED: 'shorter than it says',
  CORRUPT: 'a piece does not open',
  KEY_MISSING: 'sealed under a key that is not at hand',
};

/** A writer that was killed leaves its unfinished file; one of this age has no writer any more. */
const STALE_MS = 3_600_000;

/** One file a store, in the form of schema/snapshot-v1.md, or sealed. */
export class SnapshotFiles implements IndexSnapshots {
  readonly #options: SnapshotFilesOptions;
  #turns: Promise<void> = Promise.resolve();

  constructor(options: SnapshotFilesOptions) {
    this.#options = options;
  }

  async restore(store: string, lastRevision: number): Promise<RestoredSnapshot | RefusedSnapshot> {
    const { index, path: file, modelId, cipher } = this.#options;
    await this.#removeStale();
    const owner = { model: modelId, store };
    const outcome =
      cipher === undefined
        ? await index.restoreSnapshot({ ...owner, path: file })
        : await this.#restoreSealed(owner, cipher);
    if ('refusal' in outcome || outcome.revision <= lastRevision) return outcome;
    // The store was put back to an earlier state, so what the index holds may never have happened.
    await index.clear();
    return {
      refusal: 'AHEAD_OF_STORE',
      detail: `snapshot of revision ${outcome.revision}, store at ${lastRevision}`,
    };
  }

  save(store: string, revision: number, last = false): Promise<{ readonly sizeBytes: number }> {
    return this.#inTurn(() => this.#save(store, revision, last));
  }

  discard(): Promise<void> {
    return this.#inTurn(async () => {
      await rm(this.#options.path, { force: true });
      // Another process's unfinished one, too: its writer fails, says so, and writes the next time what is left by then.
      await this.#removeStale(0);
    });
  }

  /** One write or removal after another, so that a save that began before an erasure cannot end after it. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turns.then(work);
    this.#turns = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  async #save(store: string, revision: number, last: boolean): Promise<{ readonly sizeBytes: number }> {
    const { index, path: file, modelId, cipher } = this.#options;
    const owner = { model: modelId, store };
    const moment = { revision, last };
    if (cipher === undefined) return { sizeBytes: await index.saveSnapshot(owner, moment, file) };
    const bytes = await index.snapshotBytes(owner, moment);
    return { sizeBytes: await writeSealedFile(file, new Uint8Array(bytes), cipher) };
  }

  async #restoreSealed(owner: SnapshotOwner, cipher: Cipher): Promise<RestoredSnapshot | RefusedSnapshot> {
    const { index, path: file } = this.#options;
    const read = await readSealedFile(file, cipher, (bytes) => index.allocateSnapshot(bytes));
    if (typeof read === 'string') return { refusal: read, detail: TROUBLE[read] };
    const outcome = await index.restoreSnapshot({ ...owner, memory: read.memory.memory });
    return 'refusal' in outcome ? outcome : { ...outcome, sizeBytes: read.sizeBytes };
  }

  async #removeStale(fromAgeMs = STALE_MS): Promise<void> {
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
      if (age >= fromAgeMs) await rm(file, { force: true });
    }
  }
}
