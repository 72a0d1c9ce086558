import { randomUUID } from 'node:crypto';
import type { SettingStore } from '../../ports/note-store.js';
import type { SweepRun } from '../../ports/sweep-runs.js';
import { keptRuns } from '../kept-runs.js';
import type { SweepReport } from './run-sweep.js';

/** About 40 KB each. */
const MAX_RUNS = 20;

type Settings = Pick<SettingStore, 'get' | 'put' | 'remove' | 'replace'>;

/** Newest first. */
export function readSweeps(
  settings: Settings,
  namespace: string,
  first: number,
): Promise<readonly SweepRun[]> {
  return keptRuns<SweepRun>(settings, 'sweep-runs', MAX_RUNS).list(namespace, first);
}

/** Keeps a report as the newest of at most twenty; one of the same id is replaced. */
export function recordSweep(
  settings: Settings,
  namespace: string,
  report: SweepReport,
  id: string = randomUUID(),
): Promise<SweepRun> {
  const { createdAt, goldenDigest, embeddingModel, machine, queries, rows } = report;
  const run = { createdAt, goldenDigest, embeddingModel, machine, queries, rows };
  return keptRuns<SweepRun>(settings, 'sweep-runs', MAX_RUNS).add({ id, namespace, ...run });
}

/** What the renderers read. */
export function toSweepReport({ rows, ...run }: SweepRun): SweepReport {
  // Rows were written by `recordSweep`; the port knows their groups and measures by name only.
  return { format: 1, ...run, rows: rows as SweepReport['rows'] };
}
