import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import type { NoteCommands } from '../ports/use-cases.js';
import type { JobHandler } from './job-handler.js';

const ERASER: Caller = { name: 'job:ERASURE', roles: ['admin'], origin: { via: 'JOB' } };

/** Erases the notes that option `ids` names (separated by commas or spaces), with option `reason`. A killed run goes on behind the last one; erasing twice is harmless. */
export function erasureHandler(commands: Pick<NoteCommands, 'erase'>): JobHandler {
  return async ({ job, checkpoint }) => {
    const ids = [...new Set((job.options.ids ?? '').split(/[\s,]+/u).filter(Boolean))];
    const reason = job.options.reason ?? '';
    if (ids.length === 0 || reason.trim() === '' || job.namespace === undefined) {
      throw new ErrataError(
        'INVALID_INPUT',
        'Expected a namespace and the options ids and reason for ERASURE, received less',
      );
    }
    const from = job.cursor === undefined ? 0 : ids.lastIndexOf(job.cursor) + 1;
    for (const [index, id] of ids.entries()) {
      if (index < from) continue;
      await commands.erase(ERASER, job.namespace, id, reason);
      await checkpoint({ done: index + 1, total: ids.length, cursor: id });
    }
    return `${ids.length} notes erased`;
  };
}
