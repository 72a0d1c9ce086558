import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { EvaluateNamespaceRequest, EvaluateResult } from '../cli/cli-deps.js';
import type { Config } from '../config/config.js';
import type { FeedbackNote } from '../domain/note.js';
import { checkNamespace } from '../domain/validate-correction.js';
import { evaluate } from '../evaluation/evaluate.js';
import { type GoldenSet, parseGoldenSet } from '../evaluation/golden-set.js';
import type { EvaluationReport } from '../evaluation/report.js';
import { recordRun } from '../evaluation/run-history.js';
import type { Store } from '../ports/note-store.js';
import { noteText } from '../retrieval/score-candidates.js';
import type { App } from './create-app.js';
import { EVALUATOR } from './evaluate-sample.js';
import { readRules, toResult, withGuards } from './evaluation-result.js';
import { withJudge } from './judge-report.js';

/** A saved version's name; anything else that is given for the golden set is a file. */
const DIGEST = /^[0-9a-f]{16}$/u;

/**
 * Runs a namespace's golden set over the installation's own notes, judges it by gate and baseline, reports, and keeps the run in the
 * namespace's history. Answers are those of the read path without trials. Errors: `INVALID_INPUT` where no set is saved,
 * `INVALID_FILE`, the read path's.
 */
export async function evaluateNamespace(
  { app, store, config }: { readonly app: App; readonly store: Store; readonly config: Config },
  request: EvaluateNamespaceRequest,
): Promise<EvaluateResult> {
  const namespace = checkNamespace(request.namespace);
  // Before the queries' time: a gate, a baseline or a set that cannot be read must not cost it.
  const rules = await readRules(request);
  const golden = await goldenOf(app, namespace, request.golden);
  const { notes: queries } = app.useCases;
  const expected = await byId(
    queries,
    namespace,
    golden.queries.flatMap(({ expected: own }) => own.map(({ key }) => key)),
  );
  const measured = await evaluate({
    retrieval: app.measured,
    caller: EVALUATOR,
    namespace,
    golden,
    resolve: (key) => (expected.has(key) ? key : undefined),
    noteText: (id) => {
      const note = expected.get(id);
      return note === undefined ? undefined : noteText(note);
    },
    cutoffs: request.cutoffs,
    onProgress: (done, total) => request.onProgress?.({ done, total }),
    signal: request.signal,
  });
  const report = await withGuards(request, rules, measured, app.retrieveDeps.embedder);
  await recordRun(store.settings, report);
  const notes = await byId(queries, namespace, namesOf(report));
  const lessonOf = (id: string) => notes.get(id)?.lesson;
  return withJudge(config, request, report, lessonOf, toResult(report, rules, lessonOf));
}

async function goldenOf(app: App, namespace: string, given: string | undefined): Promise<GoldenSet> {
  if (given !== undefined && !DIGEST.test(given))
    return parseGoldenSet(await readFile(given, 'utf8'), basename(given));
  const jsonl = await app.useCases.evaluations.goldenText(namespace, given);
  return parseGoldenSet(jsonl, `the golden set of ${namespace}`);
}

async function byId(
  notes: App['useCases']['notes'],
  namespace: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FeedbackNote>> {
  const found = await notes.getMany(namespace, [...new Set(ids)]);
  return new Map(found.map((note) => [note.id, note]));
}

function namesOf({ cases }: EvaluationReport): readonly string[] {
  return cases.flatMap(({ expected, answered }) => [...expected, ...answered]);
}
