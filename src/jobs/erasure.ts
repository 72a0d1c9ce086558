import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import type { NoteCommands } from '../ports/use-cases.js';
import type { JobHandler } from './job-handler.js';

const ERASER: Caller = { name: 'job:ERASURE', roles: ['admin'], origin: { via: 'JOB' } };

/** Erases the notes that option `ids` names (separated by commas or spaces), with option `reason`. Erasing twice is harmless. */
export function erasureHandler(commands: Pick<NoteCommands, 'erase'>): JobHandler {
  return async ({ job, checkpoint }) => {
    const ids = (job.options.ids ?? '').split(/[\s,]+/u).filter(Boolean);
    const reason = job.options.reason ?? '';
    if (ids.length === 0 || reason.trim() === '' || job.namespace === undefined) {
      throw new ErrataError(
        'INVALID_INPUT',
        'Expected a namespace and the options ids and reason for ERASURE, received less',
      );
    }
    let done = 0;
    for (const id of ids) {
      await commands.erase(ERASER, job.namespace, id, reason);
      done += 1;
      await checkpoint({ done, total: ids.length });
    }
    return `${done} notes erased`;
  };
}
