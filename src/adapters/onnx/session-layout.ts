import type { InferenceInput } from './embed-protocol.js';

/** How threads are shared out: many sessions with one thread each, or one session with all. */
export interface SessionLayout {
  readonly sessions: number;
  readonly threadsPerSession: number;
}

/** What a layout is measured with. */
export interface Runner {
  run(input: InferenceInput): Promise<unknown>;
}

/**
 * Weights from here on are held once: a second session would cost more memory than the speed is worth (bge-m3 has 2.2 GB), and each
 * would take seconds to load.
 */
const HELD_ONCE_BYTES = 256 * 2 ** 20;
/** For all runs of both layouts; at least one round runs, however slow the model is. */
const BUDGET_MS = 150;
const MAX_ROUNDS = 20;
/** One session with all threads has to be so much faster: its times also depend on what else the machine does. */
const MARGIN = 0.9;

export const separate = (threads: number): SessionLayout => ({ sessions: threads, threadsPerSession: 1 });
export const shared = (threads: number): SessionLayout => ({ sessions: 1, threadsPerSession: threads });

/** The layout that needs no measurement, if one does not. */
export function givenLayout(threads: number, weightsBytes: number): SessionLayout | undefined {
  if (threads === 1) return separate(1);
  return weightsBytes >= HELD_ONCE_BYTES ? shared(threads) : undefined;
}

/**
 * Runs as many inputs as there are threads, side by side in sessions of their own and one after the other in the session that has
 * all threads, in turns. Takes about 150 ms. `input` makes a new input each time, since its arrays are transferred.
 */
export async function measureLayout(options: {
  readonly threads: number;
  readonly separate: Runner;
  readonly shared: Runner;
  readonly input: () => InferenceInput;
  readonly nowMs?: () => number;
}): Promise<SessionLayout> {
  const { threads, input, nowMs = () => performance.now() } = options;
  const times = { separate: [] as number[], shared: [] as number[] };
  const startedMs = nowMs();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const beginMs = nowMs();
    await Promise.all(Array.from({ length: threads }, () => options.separate.run(input())));
    const betweenMs = nowMs();
    for (let at = 0; at < threads; at += 1) await options.shared.run(input());
    const endMs = nowMs();
    // The first round warms up; it counts only where there is time for no other.
    if (round === 1) {
      times.separate.length = 0;
      times.shared.length = 0;
    }
    times.separate.push(betweenMs - beginMs);
    times.shared.push(endMs - betweenMs);
    if (endMs - startedMs >= BUDGET_MS) break;
  }
  return median(times.shared) < MARGIN * median(times.separate) ? shared(threads) : separate(threads);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
