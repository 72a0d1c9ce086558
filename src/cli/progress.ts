import { Presets, SingleBar } from 'cli-progress';
import type { Progress } from './cli-deps.js';
import { hasColours, type OutputStream, type Terminal } from './terminal.js';

/** Shows how far something has come, on standard error. */
export interface ProgressDisplay {
  update(progress: Progress): void;
  /** Ends the display; a last line says how much was done. */
  stop(): void;
}

/** Between two plain lines. */
const LINE_INTERVAL_MS = 3_000;

function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '?';
  const whole = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(whole / 60);
  return minutes === 0 ? `${whole} s` : `${minutes} min ${whole % 60} s`;
}

function rateOf(done: number, elapsedMs: number): number {
  return elapsedMs <= 0 ? 0 : (done * 1_000) / elapsedMs;
}

/** `import: 1,200 of 5,000 (24%), 310/s, 12 s left` */
export function progressLine(label: string, { done, total }: Progress, elapsedMs: number): string {
  const rate = rateOf(done, elapsedMs);
  const speed = rate > 0 ? `, ${rate >= 10 ? Math.round(rate) : rate.toFixed(1)}/s` : '';
  if (total === undefined || total === 0) return `${label}: ${done}${speed}`;
  const left = done < total && rate > 0 ? `, ${duration((total - done) / rate)} left` : '';
  return `${label}: ${done} of ${total} (${Math.floor((100 * done) / total)}%)${speed}${left}`;
}

function bar(label: string, stream: OutputStream, env: Terminal['env']): ProgressDisplay {
  let shown: SingleBar | undefined;
  let startedAt = 0;
  return {
    update({ done, total }) {
      if (shown === undefined) {
        shown = new SingleBar(
          {
            format: `${label} [{bar}] {percentage}% {value}/{total} {rate}/s {left} left`,
            stream,
            barsize: 24,
            hideCursor: hasColours(stream, env),
            clearOnComplete: true,
            etaBuffer: 100,
          },
          Presets.shades_classic,
        );
        shown.start(total ?? done, 0, { rate: '?', left: '?' });
        startedAt = performance.now();
      }
      shown.setTotal(total ?? done);
      const rate = rateOf(done, performance.now() - startedAt);
      shown.update(done, {
        rate: rate.toFixed(rate < 10 ? 1 : 0),
        left: rate > 0 && total !== undefined ? duration((total - done) / rate) : '?',
      });
    },
    stop: () => shown?.stop(),
  };
}

function lines(label: string, stream: OutputStream): ProgressDisplay {
  const started = performance.now();
  let last = started;
  let latest: Progress | undefined;
  let printed: number | undefined;
  const print = (progress: Progress): void => {
    printed = progress.done;
    stream.write(`${progressLine(label, progress, performance.now() - started)}\n`);
  };
  return {
    update(progress) {
      latest = progress;
      if (performance.now() - last < LINE_INTERVAL_MS) return;
      last = performance.now();
      print(progress);
    },
    stop() {
      if (latest !== undefined && printed !== latest.done) print(latest);
    },
  };
}

/** A bar on a terminal, else one plain line every few seconds. */
export function showProgress(label: string, terminal: Terminal): ProgressDisplay {
  return terminal.stderr.isTTY === true
    ? bar(label, terminal.stderr, terminal.env)
    : lines(label, terminal.stderr);
}
