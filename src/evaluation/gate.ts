import { z } from 'zod';
import { ErrataError } from '../domain/errors.js';
import { type CaseChange, compareReports, type Half, type ReportComparison } from './compare-reports.js';
import type { GateCheck } from './gate-check.js';
import { GUARD_MEASURE_NAMES, type GuardFault } from './guards/guard-measures.js';
import { judgeGuards } from './guards/judge-guards.js';
import { areaUnderCurve, injectedAtRecall, MEASURE_NAMES, MEASURES, type MeasureName } from './metrics.js';
import type { EvaluationReport } from './report.js';
import { signed } from './reports/rows.js';
import { adjustByHolm } from './statistics/permutation-test.js';

const share = z.number().min(0).max(1);

/** Figures of a half as a whole, which no single query has: they can be bounded, but not paired with a baseline's. */
const WHOLE_NAMES = ['answerableAuc', 'injectedAt80'] as const;
type WholeName = (typeof WHOLE_NAMES)[number];

const gateSchema = z.strictObject({
  /** Where the rules look. `test`, unless the set is too small to be halved. */
  half: z.enum(['test', 'tune', 'all']).default('test'),
  /** Bounds that hold without a baseline: at least (or, for measures where less is better, at most) this much. */
  bounds: z
    .partialRecord(z.enum([...MEASURE_NAMES, ...WHOLE_NAMES, ...GUARD_MEASURE_NAMES]), share)
    .default({}),
  /** How far a measure may get worse than the baseline. */
  drops: z.partialRecord(z.enum([...MEASURE_NAMES, ...GUARD_MEASURE_NAMES]), share).default({}),
  /**
   * A drop beyond its limit fails only where the permutation test, adjusted over the listed drops (Holm), is below this. 1: any drop
   * beyond the limit fails, right for a fixed set, where every change is a change of the program.
   */
  significance: z.number().gt(0).max(1).default(1),
  /** Largest median time of a query, as a multiple of the baseline's; looked at only where both ran on the same kind of machine. */
  slowdown: z.number().min(1).optional(),
  /** Largest median time of a query in milliseconds. */
  medianMs: z.number().positive().optional(),
});

export type Gate = z.infer<typeof gateSchema>;

export interface GateResult {
  readonly ok: boolean;
  readonly checks: readonly GateCheck[];
  readonly comparison?: ReportComparison | undefined;
  /** Queries that got worse in a measure whose check failed. */
  readonly cases: readonly CaseChange[];
  /** Labelled entries of the guards that got worse in a measure whose check failed. */
  readonly guardFaults: readonly GuardFault[];
}

/** Errors: `INVALID_FILE` naming the field. */
export function parseGate(json: string, name: string): Gate {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new ErrataError('INVALID_FILE', `Expected JSON for ${name}, received other text`, { cause });
  }
  const parsed = gateSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ErrataError(
    'INVALID_FILE',
    `Expected a gate for ${name}, received ${issue?.path.join('.') || 'a document'}: ${issue?.message ?? 'invalid'}`,
  );
}

/**
 * Judges a report. Errors: `INVALID_INPUT` where drops are asked for without a baseline, or the baseline is of another golden set
 * and shares no query.
 */
export function judge(
  gate: Gate,
  report: EvaluationReport,
  baseline: EvaluationReport | undefined,
): GateResult {
  const comparison = baseline === undefined ? undefined : compareReports(baseline, report, gate.half);
  const dropNames = namesOf(gate.drops);
  if (baseline === undefined && (Object.keys(gate.drops).length > 0 || gate.slowdown !== undefined)) {
    throw new ErrataError(
      'INVALID_INPUT',
      'Expected a baseline for a gate with drops or slowdown, received none',
    );
  }
  const guards = judgeGuards(gate, report.guards, baseline?.guards);
  const drops = comparison === undefined ? [] : judgeDrops(gate, comparison, dropNames);
  const checks = [
    ...namesOf(gate.bounds).map((name) => judgeBound(gate, report, name)),
    ...WHOLE_NAMES.flatMap((name) => judgeWhole(gate, report, name)),
    ...drops.map(({ check }) => check),
    ...guards.checks,
    ...judgeSpeed(gate, report, baseline),
  ];
  const failed = new Set(drops.filter(({ check }) => !check.ok).map(({ name }) => name));
  return {
    ok: checks.every(({ ok }) => ok),
    checks,
    comparison,
    cases: comparison?.changes.filter(({ worse }) => worse.some((name) => failed.has(name))) ?? [],
    guardFaults: guards.faults,
  };
}

function namesOf(rules: Partial<Record<MeasureName, number>>): readonly MeasureName[] {
  return MEASURE_NAMES.filter((name) => rules[name] !== undefined);
}

function judgeBound(gate: Gate, report: EvaluationReport, name: MeasureName): GateCheck {
  const { title, better, over } = MEASURES[name];
  const metrics = metricsOfHalf(report, gate.half);
  const bound = gate.bounds[name] ?? 0;
  const value = metrics[name];
  // A mean over no queries is 0: neither good nor bad, so it must not pass as either.
  const empty = metrics[over] === 0;
  const ok = !empty && (better === 'higher' ? value >= bound : value <= bound);
  const wanted = better === 'higher' ? 'at least' : 'at most';
  return {
    name: `bound ${title}`,
    ok,
    text: `${title} ${wanted} ${bound}: ${empty ? `no ${over} queries` : value.toFixed(3)}`,
  };
}

/** How well the best score tells answerable queries from the others; a half that lacks one of the kinds fails. */
function judgeWhole(
  { bounds, half }: Gate,
  { cases }: EvaluationReport,
  name: WholeName,
): readonly GateCheck[] {
  const bound = bounds[name];
  if (bound === undefined) return [];
  const own = cases.filter((one) => half === 'all' || one.half === half);
  const bestOf = (answerable: boolean) =>
    own.filter((one) => one.answerable === answerable).map(({ best }) => best ?? Number.NEGATIVE_INFINITY);
  const [right, wrong] = [bestOf(true), bestOf(false)];
  const isAuc = name === 'answerableAuc';
  const value = isAuc ? areaUnderCurve(right, wrong) : injectedAtRecall(right, wrong, 0.8);
  const empty = right.length === 0 || wrong.length === 0;
  const title = isAuc ? 'AUC answerable' : 'wrongly answered at 80% answered';
  const shown = empty ? 'no queries of one kind' : value.toFixed(3);
  return [
    {
      name: `bound ${title}`,
      ok: !empty && (isAuc ? value >= bound : value <= bound),
      text: `${title} ${isAuc ? 'at least' : 'at most'} ${bound}: ${shown}`,
    },
  ];
}

function judgeDrops(
  gate: Gate,
  comparison: ReportComparison,
  names: readonly MeasureName[],
): { name: MeasureName; check: GateCheck }[] {
  const rows = names.map((name) => ({ name, row: comparison.measures.find((one) => one.name === name) }));
  const adjusted = adjustByHolm(rows.map(({ row }) => row?.pValue ?? 1));
  return rows.map(({ name, row }, index) => {
    const { title, better } = MEASURES[name];
    if (row === undefined) {
      return { name, check: { name: `drop ${title}`, ok: false, text: `${title}: no queries to compare` } };
    }
    const allowed = gate.drops[name] ?? 0;
    const drop = better === 'higher' ? row.before - row.after : row.after - row.before;
    const pValue = adjusted[index] ?? 1;
    const beyond = drop > allowed + 1e-12;
    const significant = gate.significance >= 1 || pValue < gate.significance;
    const { low, high } = row.difference;
    const doubt = beyond && !significant ? ', not significant' : '';
    return {
      name,
      check: {
        name: `drop ${title}`,
        ok: !(beyond && significant),
        text: `${title} may get worse by ${allowed}: ${row.before.toFixed(3)} → ${row.after.toFixed(3)} (95%: ${signed(low)} to ${signed(high)}, p ${pValue.toFixed(3)}${doubt})`,
      },
    };
  });
}

function judgeSpeed(
  gate: Gate,
  report: EvaluationReport,
  baseline: EvaluationReport | undefined,
): readonly GateCheck[] {
  const checks: GateCheck[] = [];
  if (gate.medianMs !== undefined) {
    checks.push({
      name: 'median time',
      ok: report.medianMs <= gate.medianMs,
      text: `median at most ${gate.medianMs} ms: ${report.medianMs.toFixed(1)} ms`,
    });
  }
  if (gate.slowdown !== undefined && baseline !== undefined) {
    const same = baseline.machine === report.machine;
    const ratio = report.medianMs / baseline.medianMs;
    checks.push({
      name: 'slowdown',
      ok: !same || ratio <= gate.slowdown,
      text: same
        ? `median at most ${gate.slowdown} × the baseline's: ${ratio.toFixed(2)} ×`
        : `slowdown not judged: the baseline ran on another machine (${baseline.machine})`,
    });
  }
  return checks;
}

function metricsOfHalf(report: EvaluationReport, half: Half) {
  return half === 'all' ? report.all : report[half];
}
