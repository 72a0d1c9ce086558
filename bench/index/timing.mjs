// Cases of one comparison take turns within one run, so that load and clock changes meet all of them.
import { median } from '../../dist/evaluation/statistics/describe-sample.js';
import { figure } from '../harness/measure.mjs';

/** Every comparison gets about this long for all its contestants together; a slow one runs less often than a quick one. */
const BUDGET_MS = { quick: 1_500, full: 8_000 };
const LEAST_CALLS = 5;
const MOST_CALLS = 2_000;

/**
 * Times contestants `{ name, call(i) }`, where `i` numbers the query, in turns; gives microseconds a call, by name. Each turn of a
 * contestant is a block of calls of about a millisecond, so that a quick one is not timed by the clock's grain.
 */
export async function inTurns(contestants, { quick, unitsPerCall = () => 1 }) {
  const plans = [];
  for (const { name, call } of contestants) {
    await call(0);
    const started = performance.now();
    await call(1);
    const ms = Math.max(1e-4, performance.now() - started);
    const share = BUDGET_MS[quick ? 'quick' : 'full'] / contestants.length;
    const calls = Math.min(MOST_CALLS, Math.max(LEAST_CALLS, Math.floor(share / ms)));
    const block = Math.min(calls, Math.max(1, Math.floor(1 / ms)));
    plans.push({ name, call, block, turns: Math.max(LEAST_CALLS, Math.floor(calls / block)), samples: [] });
  }
  const rounds = Math.max(...plans.map(({ turns }) => turns));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, call, block, turns, samples } of plans) {
      // Those with fewer turns are spread over the whole run.
      if (Math.floor((round * turns) / rounds) === Math.floor(((round - 1) * turns) / rounds)) continue;
      const started = performance.now();
      for (let i = 0; i < block; i += 1) {
        const pending = call(round * block + i);
        if (pending instanceof Promise) await pending;
      }
      samples.push(((performance.now() - started) * 1_000) / block / unitsPerCall(name));
    }
  }
  return new Map(plans.map(({ name, samples }) => [name, samples]));
}

/** Medians of about twenty consecutive blocks: `rounds` of a metric. */
function roundsOf(samples) {
  const size = Math.max(1, Math.ceil(samples.length / 20));
  const rounds = [];
  for (let from = 0; from + size <= samples.length; from += size)
    rounds.push(median(samples.slice(from, from + size)));
  return rounds;
}

/** The metric of one contestant, in microseconds; `extra` may hold its recall. */
export function timeMetric(name, samples, extra = {}) {
  return { ...figure(name, 'µs', 'lower', roundsOf(samples)), value: round(median(samples)), ...extra };
}

export const round = (value) => Number(value.toPrecision(4));

/** Share of the right keys that were found, over all queries. */
export function recallOf(found, exact) {
  let hits = 0;
  let wanted = 0;
  exact.forEach((keys, i) => {
    const right = new Set(keys);
    wanted += right.size;
    for (const key of found[i] ?? []) if (right.delete(Number(key))) hits += 1;
  });
  return wanted === 0 ? 1 : hits / wanted;
}

/** CPU seconds of this process, all threads, that `work` took. */
export async function cpuSeconds(work) {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, seconds: (user + system) / 1e6 };
}

/** Microseconds that one core needs to read `bytes` bytes of memory once: libc's `memchr` for a byte that is not there. */
export function readLimit(bytes) {
  const memory = Buffer.alloc(bytes, 1);
  return {
    name: 'read limit (memchr over the same bytes)',
    call: () => {
      if (memory.indexOf(2) !== -1) throw new Error('Expected a search through all of the memory');
    },
  };
}
