// How a bench takes time. Samples are kept as medians of consecutive blocks ("rounds"): single calls depend on their
// neighbours, blocks hardly do, so that intervals over rounds are honest.
import { median, quantile } from '../../dist/evaluation/statistics/describe-sample.js';

const ROUNDS = 20;

/** Runs `calls` calls of `call(index)`, `concurrency` at a time; gives milliseconds in order of completion and the seconds of the whole. */
export async function timeCalls({ calls, concurrency = 1, call }) {
  const times = [];
  let next = 0;
  const worker = async () => {
    while (next < calls) {
      const index = next;
      next += 1;
      const start = performance.now();
      await call(index);
      times.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { times, seconds: (performance.now() - start) / 1_000 };
}

/** A latency metric, in ms, of what `timeCalls` gave. `extra` stands beside it, such as `{ recall: 0.99 }`. */
export function latencyMetric(name, { times, seconds }, extra = {}) {
  const sorted = times.toSorted((a, b) => a - b);
  const size = Math.max(1, Math.ceil(times.length / ROUNDS));
  const rounds = [];
  for (let from = 0; from + size <= times.length; from += size)
    rounds.push(round3(median(times.slice(from, from + size))));
  return {
    name,
    unit: 'ms',
    better: 'lower',
    value: round3(quantile(sorted, 0.5)),
    p95: round3(quantile(sorted, 0.95)),
    p99: round3(quantile(sorted, 0.99)),
    calls: times.length,
    perSecond: Math.round(times.length / seconds),
    rounds,
    ...extra,
  };
}

/** Times `call` and makes the metric: for most benches. */
export async function measureLatency(name, options) {
  return latencyMetric(name, await timeCalls(options), options.extra);
}

/** A metric of one number, or of one number a repetition (`rounds`; the median stands). */
export function figure(name, unit, better, values, extra = {}) {
  const rounds = Array.isArray(values) ? values : [values];
  return { name, unit, better, value: round3(median(rounds)), rounds: rounds.map(round3), ...extra };
}

/** Resident memory in MiB after a garbage collection. */
export function residentMiB() {
  globalThis.gc?.();
  return process.memoryUsage().rss / 2 ** 20;
}

/** Three decimals below 1000, else whole numbers: results stay readable and diffable. */
function round3(value) {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Math.round(value * 1_000) / 1_000;
}
