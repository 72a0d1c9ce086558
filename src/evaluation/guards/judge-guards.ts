import { ErrataError } from '../../domain/errors.js';
import type { GateCheck } from '../gate-check.js';
import { signed } from '../reports/rows.js';
import {
  GUARD_MEASURE_NAMES,
  GUARD_MEASURES,
  type GuardFault,
  type GuardFigures,
  type GuardMeasure,
} from './guard-measures.js';

type Rules = Readonly<Partial<Record<GuardMeasure, number>>>;

export interface GuardRules {
  readonly half: 'test' | 'tune' | 'all';
  readonly bounds: Rules;
  readonly drops: Rules;
}

export interface GuardVerdict {
  readonly checks: readonly GateCheck[];
  /** Labelled entries that got worse in a measure whose check failed; without a baseline all that are at fault. */
  readonly faults: readonly GuardFault[];
}

/** Whether a gate has rules for the guards, so that they must be measured. */
export function asksForGuards({ bounds, drops }: Pick<GuardRules, 'bounds' | 'drops'>): boolean {
  return GUARD_MEASURE_NAMES.some((name) => bounds[name] !== undefined || drops[name] !== undefined);
}

/** Errors: `INVALID_INPUT` where the rules ask for guards that the report, or for drops the baseline, does not hold. */
export function judgeGuards(
  rules: GuardRules,
  now: GuardFigures | undefined,
  before: GuardFigures | undefined,
): GuardVerdict {
  if (!asksForGuards(rules)) return { checks: [], faults: [] };
  if (now === undefined) throw missing('a report');
  const failed = new Set<GuardMeasure>();
  const checks = GUARD_MEASURE_NAMES.flatMap((name) => {
    const own = [...judgeBound(rules, now, name), ...judgeDrop(rules, now, before, name)];
    if (own.some(({ ok }) => !ok)) failed.add(name);
    return own;
  });
  const halves = halvesOf(rules.half);
  const earlier = new Map(before?.faults.map((fault) => [keyOf(fault), fault.faults]) ?? []);
  return {
    checks,
    faults: now.faults.filter(
      (fault) =>
        failed.has(fault.measure) &&
        halves.includes(fault.half) &&
        fault.faults > (earlier.get(keyOf(fault)) ?? 0),
    ),
  };
}

function keyOf({ measure, id }: GuardFault): string {
  return `${measure} ${id}`;
}

/** The guards' held-out half is what `test` is for queries: nothing was tuned on it. */
function halvesOf(half: GuardRules['half']): readonly GuardFault['half'][] {
  return half === 'all' ? ['tune', 'held-out'] : [half === 'test' ? 'held-out' : 'tune'];
}

function rateOf(
  { measures }: GuardFigures,
  name: GuardMeasure,
  half: GuardRules['half'],
): { readonly rate: number; readonly text: string; readonly empty: boolean } {
  const parts = halvesOf(half).map((one) => measures[name][one]);
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  const rate = total === 0 ? 0 : count / total;
  return { rate, text: `${rate.toFixed(3)} (${count} of ${total})`, empty: total === 0 };
}

function judgeBound({ bounds, half }: GuardRules, now: GuardFigures, name: GuardMeasure): GateCheck[] {
  const bound = bounds[name];
  if (bound === undefined) return [];
  const { title, better } = GUARD_MEASURES[name];
  const { rate, text, empty } = rateOf(now, name, half);
  const ok = !empty && (better === 'higher' ? rate >= bound : rate <= bound);
  const wanted = better === 'higher' ? 'at least' : 'at most';
  return [{ name: `bound ${title}`, ok, text: `${title} ${wanted} ${bound}: ${text}` }];
}

function judgeDrop(
  { drops, half }: GuardRules,
  now: GuardFigures,
  before: GuardFigures | undefined,
  name: GuardMeasure,
): GateCheck[] {
  const allowed = drops[name];
  if (allowed === undefined) return [];
  if (before === undefined) throw missing('a baseline');
  const { title, better, set } = GUARD_MEASURES[name];
  const check = `drop ${title}`;
  if (before.digests[set] !== now.digests[set]) {
    const text = `${title}: the baseline is of another labelled set (${set}); make it anew`;
    return [{ name: check, ok: false, text }];
  }
  const [old, present] = [rateOf(before, name, half), rateOf(now, name, half)];
  const worse = better === 'higher' ? old.rate - present.rate : present.rate - old.rate;
  return [
    {
      name: check,
      ok: worse <= allowed + 1e-12,
      text: `${title} may get worse by ${allowed}: ${old.text} → ${present.text}, ${signed(present.rate - old.rate)}`,
    },
  ];
}

function missing(where: string): ErrataError {
  return new ErrataError(
    'INVALID_INPUT',
    `Expected ${where} with figures of the guards (errata evaluate --guards) for a gate that holds them, received one without`,
  );
}
