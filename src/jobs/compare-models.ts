import type { Caller } from '../domain/api-key.js';
import { compareReports, type ReportComparison } from '../evaluation/compare-reports.js';
import { evaluate } from '../evaluation/evaluate.js';
import { type GoldenSet, parseGoldenSet } from '../evaluation/golden-set.js';
import { goldenSetting } from '../evaluation/golden-versions.js';
import type { EvaluationReport } from '../evaluation/report.js';
import type { Store } from '../ports/note-store.js';
import type { RetrievalQueries } from '../ports/use-cases.js';

type ReadPath = Pick<RetrievalQueries, 'retrieve'>;

const JUDGE: Caller = { name: 'job:MODEL_SWITCH', roles: ['reader'], origin: { via: 'JOB' } };
const PREFIX = goldenSetting('');

export interface ModelComparison {
  readonly before: ReadPath;
  readonly after: ReadPath;
  readonly onProgress: (done: number, total: number) => Promise<void>;
}

/** Both read paths on every namespace's saved golden set, paired by query. Undefined where no set is saved. */
export async function compareModels(
  store: Store,
  { before, after, onProgress }: ModelComparison,
): Promise<ReportComparison | undefined> {
  const sets: { namespace: string; golden: GoldenSet }[] = [];
  for (const [name, jsonl] of await store.settings.list(PREFIX)) {
    const namespace = name.slice(PREFIX.length);
    // Older versions of a set stand beside it, under its name and digest.
    if (!namespace.includes('@')) sets.push({ namespace, golden: parseGoldenSet(jsonl, name) });
  }
  if (sets.length === 0) return undefined;
  const total = 2 * sets.reduce((sum, { golden }) => sum + golden.queries.length, 0);
  let done = 0;
  const measure = async (path: ReadPath): Promise<EvaluationReport> => {
    const reports: EvaluationReport[] = [];
    for (const { namespace, golden } of sets) {
      const retrieval: ReadPath = {
        async retrieve(caller, request, options) {
          const answer = await path.retrieve(caller, request, options);
          done += 1;
          if (done % 20 === 0) await onProgress(done, total);
          return answer;
        },
      };
      reports.push(await evaluate({ retrieval, caller: JUDGE, namespace, golden, resolve: (key) => key }));
    }
    const [first, ...others] = reports;
    if (first === undefined) throw new TypeError('Expected a report a golden set, received none');
    const cases = [first, ...others].flatMap(({ namespace, cases: own }) =>
      own.map((one) => ({ ...one, id: `${namespace}/${one.id}` })),
    );
    return { ...first, cases };
  };
  return compareReports(await measure(before), await measure(after), 'all');
}
