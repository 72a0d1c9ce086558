import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCli } from '../../src/cli/run-cli.js';
import { fakeDeps } from './fake-deps.mjs';

export interface FakeRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly calls: readonly (readonly [string, ...unknown[]])[];
}

export interface FakeRunOptions {
  readonly answers?: Record<string, unknown>;
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Standard output and error as a terminal of this width. */
  readonly columns?: number;
  /** Ctrl-C as soon as this call was made. */
  readonly interruptAt?: string;
}

/** Runs a command line in this process over the fake installation. */
export async function runFake(argv: readonly string[], options: FakeRunOptions = {}): Promise<FakeRun> {
  const { columns } = options;
  const terminal = columns === undefined ? {} : { isTTY: true, columns };
  const stdout = Object.assign(new PassThrough(), terminal);
  const stderr = Object.assign(new PassThrough(), terminal);
  const outputs = Promise.all([text(stdout), text(stderr)]);
  let interrupt: () => void = () => undefined;
  const answers = { ...options.answers };
  const { interruptAt } = options;
  if (interruptAt !== undefined) {
    const answer = answers[interruptAt];
    answers[interruptAt] = (...args: unknown[]) => {
      queueMicrotask(interrupt);
      return typeof answer === 'function' ? answer(...args) : answer;
    };
  }
  const { deps, calls } = fakeDeps(answers);
  const code = await runCli(argv, deps, {
    stdin: Readable.from([options.stdin ?? '']),
    stdout,
    stderr,
    env: options.env ?? {},
    cwd: options.cwd ?? process.cwd(),
    onInterrupt: (listener) => {
      interrupt = listener;
      return () => undefined;
    },
    exit: () => undefined,
  });
  stdout.end();
  stderr.end();
  const [out, err] = await outputs;
  return { code, stdout: out, stderr: err, calls };
}
