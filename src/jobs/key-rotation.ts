import { setTimeout as pause } from 'node:timers/promises';
import { ErrataError } from '../domain/errors.js';
import type { NoteId } from '../domain/note.js';
import type { Store } from '../ports/note-store.js';
import type { JobHandler } from './job-handler.js';

/** Notes that are sealed again in one write: some ms, so that other writers hardly wait. */
const BATCH = 200;
/** Processes look once a second whether their keys changed: after two of those nobody seals with the old one. */
const SETTLE_MS = 2_500;

export interface KeyRotationDeps {
  readonly store: Store;
  readonly settleMs?: number;
}

/**
 * Seals every note and vector with the present key while all processes read and write, then goes over them again until
 * nothing was left by a process that learned of the key late, and gives up the other keys. Resumes behind the last batch.
 *
 * Errors: `INVALID_CONFIG` where the process has no key.
 */
export function keyRotationHandler({ store, settleMs = SETTLE_MS }: KeyRotationDeps): JobHandler {
  return async ({ job, signal, checkpoint }) => {
    const { sealing } = store;
    if (sealing === undefined) {
      throw new ErrataError('INVALID_CONFIG', 'Expected an encryption key for KEY_ROTATION, received none');
    }
    await sealing.enterKey();
    let { done } = job;
    const pass = async (from: NoteId | undefined): Promise<number> => {
      let resealed = 0;
      for (let after = from; ; ) {
        const page = await store.notes.reseal(after, BATCH);
        resealed += page.resealed;
        done += page.resealed;
        after = page.lastId;
        await checkpoint({ done, ...(after === undefined ? {} : { cursor: after }) });
        if (after === undefined) return resealed;
      }
    };
    await pass(job.cursor);
    do {
      await pause(settleMs, undefined, { signal });
    } while ((await pass(undefined)) > 0);
    const gone = await sealing.forgetOthers();
    const given = gone.length === 0 ? '' : `; no longer needed: ${gone.join(', ')}`;
    return `${done} notes sealed with key ${await sealing.enterKey()}${given}`;
  };
}
