import { ErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { Keyset, NamespaceScope, SettingStore } from '../ports/note-store.js';
import type { SweepAction, SweepCounts, SweepEntry, SweepReport } from '../ports/review-commands.js';
import type { WriteContext } from './note-deps.js';
import { actionOfReason, REASONS, SWEEPER } from './sweep-note.js';

/** Entries one setting holds, and settings one dry run keeps: beyond 10,000 notes only the counts are complete. */
const PAGE = 200;
const MOST_PAGES = 50;
/** Dry runs that are kept; the oldest go first. */
const KEPT_RUNS = 10;
const RUNS = 'sweep-reports';

const pageName = (run: string, page: number): string =>
  `sweep-report:${run}:${String(page).padStart(4, '0')}`;

/**
 * Keeps what a dry run would do, since nothing else holds it; a run that is repeated after a crash starts anew. What a real run did
 * stands in the audit log. Bounded: `MOST_PAGES` pages of `KEPT_RUNS` runs.
 */
export async function keepDryRun(
  settings: SettingStore,
  run: string,
  entries: readonly SweepEntry[],
): Promise<void> {
  const held = JSON.parse((await settings.get(RUNS)) ?? '[]') as readonly string[];
  const runs = [...held.filter((other) => other !== run), run];
  for (const old of [...runs.slice(0, -KEPT_RUNS), run]) {
    for (const name of (await settings.list(`sweep-report:${old}:`)).keys()) await settings.remove(name);
  }
  await settings.put(RUNS, JSON.stringify(runs.slice(-KEPT_RUNS)));
  const kept = entries.slice(0, PAGE * MOST_PAGES);
  for (let page = 0; page * PAGE < kept.length; page += 1) {
    await settings.put(pageName(run, page), JSON.stringify(kept.slice(page * PAGE, (page + 1) * PAGE)));
  }
}

/** Entries that a dry run has to remember at most. */
export const MOST_ENTRIES = PAGE * MOST_PAGES;

interface Window {
  readonly limit: number;
  readonly offset: number;
}

/**
 * The notes of a staleness sweep with what it did to each, or would do, and why: newest change first, of a dry run oldest note first.
 * Only those of the scope. Reads the audit log back to the sweep's start.
 *
 * Errors: `JOB_NOT_FOUND` for another job; `INVALID_INPUT` for a window that is none.
 */
export async function sweepReport(
  { store }: Pick<WriteContext, 'store'>,
  scope: NamespaceScope,
  run: string,
  { limit, offset }: Window,
): Promise<SweepReport> {
  if (
    !Number.isInteger(limit) ||
    limit < 1 ||
    limit > LIMITS.pageSize ||
    !Number.isInteger(offset) ||
    offset < 0
  ) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected 1 to ${LIMITS.pageSize} for first and 0 or more for offset, received other numbers`,
    );
  }
  const job = await store.jobs.get(run);
  const seen = scope === 'all' || job?.namespace === undefined || scope.includes(job.namespace);
  if (job?.kind !== 'STALENESS_SWEEP' || !seen) {
    throw new ErrataError('JOB_NOT_FOUND', 'Expected the id of a staleness sweep, received another');
  }
  const dryRun = job.options.dryRun === 'true';
  const entries = dryRun
    ? dryRunEntries(store.settings, scope, run)
    : auditedEntries(store.audit, scope, run, job.createdAt);
  const found: SweepEntry[] = [];
  let [index, hasMore] = [0, false];
  for await (const entry of entries) {
    hasMore = found.length === limit;
    if (hasMore) break;
    if (index >= offset) found.push(entry);
    index += 1;
  }
  return { run, dryRun, entries: found, hasMore };
}

/** What a sweep has done since, notes by what was done to them: one that was killed and goes on reports the whole. */
export async function countSwept(
  { store }: Pick<WriteContext, 'store'>,
  scope: NamespaceScope,
  run: string,
  since: string,
): Promise<SweepCounts> {
  const counts: Record<SweepAction, number> = { EXPIRED: 0, REVIEW_DUE: 0, ESCALATED: 0, GIVEN_UP: 0 };
  for await (const { action } of auditedEntries(store.audit, scope, run, since)) counts[action] += 1;
  return counts;
}

async function* dryRunEntries(
  settings: SettingStore,
  scope: NamespaceScope,
  run: string,
): AsyncGenerator<SweepEntry> {
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const json = await settings.get(pageName(run, page));
    if (json === undefined) return;
    for (const entry of JSON.parse(json) as readonly SweepEntry[]) {
      if (scope === 'all' || scope.includes(entry.namespace)) yield entry;
    }
  }
}

async function* auditedEntries(
  audit: WriteContext['store']['audit'],
  scope: NamespaceScope,
  run: string,
  since: string,
): AsyncGenerator<SweepEntry> {
  let after: Keyset | undefined;
  for (;;) {
    const page = await audit.list(scope, { actor: SWEEPER.name }, { limit: LIMITS.pageSize, after });
    for (const { namespace, noteId, reason } of page.items) {
      const action = actionOfReason(reason, run);
      if (namespace === undefined || noteId === undefined || action === undefined) continue;
      yield sweepEntry(namespace, noteId, action);
    }
    after = page.keysets.at(-1);
    const oldest = page.items.at(-1);
    if (!page.hasNext || after === undefined || oldest === undefined || oldest.at < since) return;
  }
}

export function sweepEntry(namespace: string, noteId: string, action: SweepAction): SweepEntry {
  return { namespace, noteId, action, reason: REASONS[action] };
}
