import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { EvaluateRequest, EvaluateResult } from '../cli/cli-deps.js';
import { compareReports, type ReportComparison } from '../evaluation/compare-reports.js';
import { type LessonOf, reportToDeepEval, reportToRagas } from '../evaluation/formats/judge-exports.js';
import { reportToQrels, reportToRun } from '../evaluation/formats/report-trec.js';
import { type Gate, judge, parseGate } from '../evaluation/gate.js';
import { asksForGuards } from '../evaluation/guards/judge-guards.js';
import type { EvaluationReport } from '../evaluation/report.js';
import { renderHtml } from '../evaluation/reports/render-html.js';
import { renderJunit, renderUngatedJunit } from '../evaluation/reports/render-junit.js';
import { renderMarkdown } from '../evaluation/reports/render-markdown.js';
import { renderText } from '../evaluation/reports/render-text.js';
import { parseReport, reportToJson } from '../evaluation/reports/report-json.js';
import type { Embedder } from '../ports/embedder.js';
import { measureInstalledGuards } from './guard-reports.js';

export interface Rules {
  readonly gate?: Gate | undefined;
  readonly baseline?: EvaluationReport | undefined;
}

/** A baseline without a gate is judged by this one: one query of a half of about 100 more or less is no regression. */
const DEFAULT_GATE = JSON.stringify({
  drops: { recallAt3: 0.015, mrr: 0.015, answeredRight: 0.015, abstentionRate: 0.015 },
});

/** Errors: `INVALID_FILE`. */
export async function readRules({
  gate,
  baseline,
}: Pick<EvaluateRequest, 'gate' | 'baseline'>): Promise<Rules> {
  const read = async <T>(file: string | undefined, parse: (json: string, name: string) => T) =>
    file === undefined ? undefined : parse(await readFile(file, 'utf8'), basename(file));
  const rules = { gate: await read(gate, parseGate), baseline: await read(baseline, parseReport) };
  if (rules.gate !== undefined || rules.baseline === undefined) return rules;
  return { ...rules, gate: parseGate(DEFAULT_GATE, 'the default gate') };
}

/** Adds the guards' figures where they are asked for, by name or by a rule of the gate. Errors: the embedder's. */
export async function withGuards(
  { guards }: Pick<EvaluateRequest, 'guards'>,
  { gate }: Rules,
  report: EvaluationReport,
  embedder: Embedder,
): Promise<EvaluationReport> {
  const asked = guards === true || (gate !== undefined && asksForGuards(gate));
  return asked ? { ...report, guards: await measureInstalledGuards(embedder) } : report;
}

/** Judges and renders. Documents are what `--out` writes, by file name. */
export function toResult(
  report: EvaluationReport,
  { gate, baseline }: Rules,
  lessonOf: LessonOf,
): EvaluateResult {
  const verdict = gate === undefined ? undefined : judge(gate, report, baseline);
  const comparison: ReportComparison | undefined =
    verdict?.comparison ?? (baseline === undefined ? undefined : compareReports(baseline, report));
  const failed = verdict?.checks.filter(({ ok }) => !ok) ?? [];
  const otherSet = baseline !== undefined && baseline.goldenDigest !== report.goldenDigest;
  return {
    report,
    text: renderText(report, verdict),
    regressions: failed.map(({ text }) => text),
    cases: [
      ...(verdict?.cases.map(({ id, query, worse }) => `${id} (${worse.join(', ')}): ${query}`) ?? []),
      ...(verdict?.guardFaults.map(({ id, half, measure }) => `${id} (${measure}, ${half})`) ?? []),
    ],
    notes: otherSet
      ? [`the baseline is of golden set ${baseline.goldenDigest}, only shared queries were compared`]
      : [],
    documents: {
      'report.json': reportToJson(report),
      'report.html': renderHtml({ report, gate: verdict, comparison }),
      'report.md': renderMarkdown(report, verdict, comparison),
      'run.trec': reportToRun(report),
      'qrels.trec': reportToQrels(report),
      'ragas.jsonl': reportToRagas(report, lessonOf),
      'deepeval.json': reportToDeepEval(report, lessonOf),
      'junit.xml': verdict === undefined ? renderUngatedJunit(report) : renderJunit(verdict),
    },
  };
}
