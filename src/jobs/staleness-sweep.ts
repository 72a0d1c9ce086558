import { ErrataError } from '../domain/errors.js';
import type { FeedbackNote } from '../domain/note.js';
import type { ReviewPolicy } from '../domain/review.js';
import { dueAction } from '../notes/sweep-note.js';
import { MOST_ENTRIES, sweepEntry } from '../notes/sweep-report.js';
import type { Clock } from '../ports/clock.js';
import type { JobStore, Keyset, NamespaceScope, NoteStore } from '../ports/note-store.js';
import type { ReviewCommands, SweepAction, SweepCounts, SweepEntry } from '../ports/review-commands.js';
import type { JobHandler } from './job-handler.js';

const PAGE = 200;

export interface SweepDeps {
  readonly notes: NoteStore;
  readonly jobs: Pick<JobStore, 'get'>;
  readonly review: Pick<ReviewCommands, 'policy' | 'sweepNote' | 'swept' | 'undoSweep' | 'keepDryRun'>;
  readonly clock: Clock;
}

const NONE: SweepCounts = { EXPIRED: 0, REVIEW_DUE: 0, ESCALATED: 0, GIVEN_UP: 0 };

/**
 * Looks at every live and waiting note and does what time asks of it (`dueAction`): deprecates what has expired, takes what is due
 * for another look out of retrieval, escalates what waits past its due time, gives up what nobody judged. Option `dryRun: true`
 * writes only its report; `undo: JOB` takes back what that sweep did. Repeating is harmless: each note is judged as it is. A run that was killed
 * begins anew and adds what it had done, by its audit events.
 */
export function stalenessSweepHandler(deps: SweepDeps): JobHandler {
  return async ({ job, checkpoint }) => {
    const scope: NamespaceScope = job.namespace === undefined ? 'all' : [job.namespace];
    if (job.options.undo !== undefined) return undo(deps, scope, job.options.undo);
    const dryRun = job.options.dryRun === 'true';
    // The first taker has fence 1.
    const before = job.fence > 1 && !dryRun ? await deps.review.swept(scope, job.id, job.createdAt) : NONE;
    const counts = { ...before };
    const wouldDo: SweepEntry[] = [];
    const policies = new Map<string, ReviewPolicy>();
    let after: Keyset | undefined;
    // Notes that left the list before a kill.
    let seen = before.EXPIRED + before.GIVEN_UP;
    for (;;) {
      // By age, which nothing here changes: a note that is flipped leaves the list, and none is skipped for it.
      const page = await deps.notes.list(
        scope,
        { statuses: ['ACTIVE', 'PENDING', 'QUARANTINED'] },
        'CREATED_ASC',
        { limit: PAGE, after },
      );
      for (const note of page.items) {
        const action = await actOn(deps, policies, note, dryRun ? undefined : job.id);
        if (action === undefined) continue;
        counts[action] += 1;
        if (dryRun && wouldDo.length < MOST_ENTRIES)
          wouldDo.push(sweepEntry(note.namespace, note.id, action));
      }
      seen += page.items.length;
      after = page.keysets.at(-1);
      await checkpoint({ done: seen, message: describe(counts) });
      if (!page.hasNext || after === undefined) break;
    }
    if (dryRun) await deps.review.keepDryRun(job.id, wouldDo);
    return `${seen} notes seen: ${describe(counts)}${dryRun ? ' (dry run)' : ''}`;
  };
}

async function actOn(
  { review, clock }: SweepDeps,
  policies: Map<string, ReviewPolicy>,
  note: FeedbackNote,
  run: string | undefined,
): Promise<SweepAction | undefined> {
  const policy = policies.get(note.namespace) ?? (await review.policy(note.namespace));
  policies.set(note.namespace, policy);
  const due = dueAction(note, policy, clock.now());
  return due === undefined || run === undefined ? due : review.sweepNote(note.namespace, note.id, run);
}

async function undo({ jobs, review }: SweepDeps, scope: NamespaceScope, run: string): Promise<string> {
  const sweep = await jobs.get(run);
  if (sweep?.kind !== 'STALENESS_SWEEP') {
    throw new ErrataError('JOB_NOT_FOUND', 'Expected the id of a staleness sweep for undo, received another');
  }
  const undone = await review.undoSweep(scope, run, sweep.createdAt);
  return `${undone} notes given back`;
}

function describe({ EXPIRED, REVIEW_DUE, ESCALATED, GIVEN_UP }: SweepCounts): string {
  return `${EXPIRED} expired, ${REVIEW_DUE} due for review, ${ESCALATED} escalated, ${GIVEN_UP} given up`;
}
