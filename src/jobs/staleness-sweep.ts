import type { Caller } from '../domain/api-key.js';
import type { FeedbackNote } from '../domain/note.js';
import type { Clock } from '../ports/clock.js';
import type { Keyset, NamespaceScope, NoteStore } from '../ports/note-store.js';
import type { NoteCommands } from '../ports/use-cases.js';
import type { JobHandler } from './job-handler.js';

const PAGE = 200;
const SWEEPER: Caller = { name: 'job:STALENESS_SWEEP', roles: ['admin'] };

export interface SweepDeps {
  readonly notes: NoteStore;
  readonly commands: Pick<NoteCommands, 'deprecate'>;
  readonly clock: Clock;
}

/**
 * Deprecates active notes whose `expiresAt` has passed and counts those whose `reviewAfter` has. Option `dryRun: true`
 * counts only. The read path leaves expired notes out anyway; the sweep makes their status say so.
 */
export function stalenessSweepHandler(deps: SweepDeps): JobHandler {
  return async ({ job, checkpoint }) => {
    const scope: NamespaceScope = job.namespace === undefined ? 'all' : [job.namespace];
    const dryRun = job.options.dryRun === 'true';
    const now = deps.clock.now();
    let after: Keyset | undefined;
    let [seen, expired, due] = [0, 0, 0];
    for (;;) {
      const page = await deps.notes.list(scope, { statuses: ['ACTIVE'] }, 'CREATED_ASC', {
        limit: PAGE,
        after,
      });
      const stale = page.items.filter((note) => note.expiresAt !== undefined && note.expiresAt <= now);
      due += page.items.filter((note) => note.reviewAfter !== undefined && note.reviewAfter <= now).length;
      if (!dryRun) await deprecateAll(deps.commands, stale);
      seen += page.items.length;
      expired += stale.length;
      after = page.keysets.at(-1);
      await checkpoint({ done: seen, message: `${expired} expired, ${due} due for review` });
      if (!page.hasNext || after === undefined) break;
    }
    return `${seen} active notes seen, ${expired} expired${dryRun ? ' (dry run)' : ' and deprecated'}, ${due} due for review`;
  };
}

async function deprecateAll(commands: SweepDeps['commands'], notes: readonly FeedbackNote[]): Promise<void> {
  for (const namespace of new Set(notes.map((note) => note.namespace))) {
    const ids = notes.filter((note) => note.namespace === namespace).map(({ id }) => id);
    await commands.deprecate(SWEEPER, namespace, ids, 'expired');
  }
}
