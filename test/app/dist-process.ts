import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/app/main.js', import.meta.url));

/** For `describe.skipIf(...)`: whether the built command line is there. `npm test` builds it. */
export const isBuilt = existsSync(MAIN);
export const PROCESS_ADMIN_KEY = 'admin-key-of-the-crash-tests';

export interface ProcessAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape.
  readonly data: any;
  readonly errors?: readonly { message: string; extensions?: { code?: string } }[];
}

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process is gone, whatever ended it. */
  readonly gone: Promise<void>;
  /** Rejects where the connection breaks before the whole answer is there: then nothing was acknowledged. */
  query(query: string, variables?: object): Promise<ProcessAnswer>;
  /** SIGKILL: nothing of the process runs after it. Resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM: it closes what it holds. Resolves when it is gone. */
  stop(): Promise<void>;
}

const living = new Set<ChildProcessWithoutNullStreams>();

/** Ends what a failed test left running. */
export async function killLeftOver(): Promise<void> {
  await Promise.all(
    [...living].map((child) => {
      child.kill('SIGKILL');
      return gone(child);
    }),
  );
}

export type ProcessEnvironment = Readonly<Record<string, string>>;

function start(
  folder: string,
  argv: readonly string[],
  env: ProcessEnvironment,
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    env: {
      PATH: process.env.PATH,
      ERRATA_DATA: folder,
      ERRATA_PORT: '0',
      ERRATA_SAMPLE: 'false',
      ERRATA_ADMIN_KEY: PROCESS_ADMIN_KEY,
      ERRATA_WORKERS: '1',
      ...env,
    },
    stdio: 'pipe',
  });
  living.add(child);
  child.once('exit', () => living.delete(child));
  return child;
}

const gone = (child: ChildProcessWithoutNullStreams): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()));

/**
 * The built server as a process of its own, on a free port, over the SQLite file of `folder` unless `env` names a server. Its log goes
 * into the file `log`, too, where one is given.
 */
export async function startServerProcess(
  folder: string,
  env: ProcessEnvironment = {},
  log?: string,
): Promise<ServerProcess> {
  const child = start(folder, ['serve', '--json'], env);
  if (log !== undefined) child.stderr.pipe(createWriteStream(log));
  const errors = text(child.stderr);
  const line = await new Promise<string | undefined>((resolve) => {
    createInterface(child.stdout)
      .once('line', resolve)
      .once('close', () => resolve(undefined));
  });
  if (line === undefined) throw new Error(`The server did not start: ${await errors}`);
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    pid: child.pid ?? 0,
    gone: gone(child),
    async query(query, variables = {}) {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${PROCESS_ADMIN_KEY}` },
        body: JSON.stringify({ query, variables }),
      });
      return (await response.json()) as ProcessAnswer;
    },
    kill() {
      child.kill('SIGKILL');
      return gone(child);
    },
    stop() {
      child.kill('SIGTERM');
      return gone(child);
    },
  };
}

export interface CommandProcess {
  /** Resolves with the exit code (none after a signal) and what was printed. */
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  kill(): Promise<void>;
}

/** `errata …argv` over the same folder. */
export function startCommand(
  folder: string,
  argv: readonly string[],
  env: ProcessEnvironment = {},
): CommandProcess {
  const child = start(folder, argv, env);
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  return {
    ended: gone(child).then(async () => {
      const [stdout, stderr] = await output;
      return { code: child.exitCode, stdout, stderr };
    }),
    kill() {
      child.kill('SIGKILL');
      return gone(child);
    },
  };
}

/** Numbers in [0, 1) that a seed repeats (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
