import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./writer-process.mjs', import.meta.url));

export interface WriterOptions {
  /** Of `compileSources`. */
  readonly sources: string;
  /** Module below the sources and its function that opens a store. */
  readonly open: readonly [module: string, name: string, options: object];
  readonly prefix: string;
  readonly count: number;
  /** Kill -9 as soon as this many writes were acknowledged. None: run to the end. */
  readonly killAfter?: number | undefined;
}

/** Runs a writer in a process of its own; resolves when it is gone, with the newest acknowledged version of each note. */
export async function runWriter(options: WriterOptions): Promise<Map<string, number>> {
  const [module, name, storeOptions] = options.open;
  const args = [path.join(options.sources, module), name, JSON.stringify(storeOptions)];
  const child: ChildProcess = spawn(
    process.execPath,
    [script, ...args, options.prefix, String(options.count)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const acknowledged = new Map<string, number>();
  let writes = 0;
  const closed = once(child, 'close');
  if (child.stdout === null) throw new Error('Expected a pipe from the writer');
  // What was printed before the kill is read to its end: it was acknowledged.
  for await (const line of createInterface({ input: child.stdout })) {
    const [id, version] = line.split(' ');
    if (id?.length !== 64 || version === undefined) continue;
    acknowledged.set(id, Number(version));
    writes += 1;
    if (writes === options.killAfter) child.kill('SIGKILL');
  }
  await closed;
  return acknowledged;
}

/** Whole numbers from 1 to `max`, the same on every run (mulberry32). */
export function seededIntegers(seed: number, max: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return 1 + (((t ^ (t >>> 14)) >>> 0) % max);
  };
}
