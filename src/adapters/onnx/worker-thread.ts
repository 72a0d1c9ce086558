import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ErrataError } from '../../domain/errors.js';
import type {
  EmbedReply,
  EmbedRequest,
  EmbedWorkerData,
  InferenceInput,
  InferenceOutput,
  ReadySession,
} from './embed-protocol.js';
import { NativeGate, stopAtExit } from './native-gate.js';
import { RunClaims } from './run-claims.js';

/** A thread that does not end by itself after `close` is stopped; the longest run takes about 30 ms. */
const CLOSE_TIMEOUT_MS = 5_000;

interface Pending {
  /** Undefined: the input was taken back. */
  readonly resolve: (output: InferenceOutput | undefined) => void;
  readonly reject: (error: ErrataError) => void;
}

/**
 * The compiled worker entry. Node 20 cannot run TypeScript, so code that itself runs from `src` (vitest) uses the build
 * in `dist`.
 *
 * Errors: `TOOL_MISSING` where there is no build.
 */
export function workerEntry(): URL {
  const here = import.meta.url;
  const entry = here.endsWith('.ts')
    ? new URL(here.replace(/\/src\/adapters\/onnx\/[^/]*$/, '/dist/adapters/onnx/embed-worker.js'))
    : new URL('./embed-worker.js', here);
  if (existsSync(fileURLToPath(entry))) return entry;
  throw new ErrataError(
    'TOOL_MISSING',
    'Expected a build of the embedding worker, received none; run: npm run build',
  );
}

/** One worker thread with its own session. Runs its inputs in turn; those that wait there can be taken back. */
export class WorkerThread {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #claims = new RunClaims();
  /** In the order of the answers. */
  readonly #pending: Pending[] = [];
  #started = 0;
  #gone: ErrataError | undefined;

  /** `onExit` is called once, after a waiting `run` was rejected; the error says why the thread ended. */
  constructor(
    entry: URL,
    data: Omit<EmbedWorkerData, 'gate' | 'claims'>,
    onExit: (error: ErrataError) => void,
  ) {
    // Flags of the parent (loaders, inspectors) are not the thread's business.
    const gate = new NativeGate();
    const workerData: EmbedWorkerData = { ...data, gate: gate.shared, claims: this.#claims.shared };
    this.#worker = new Worker(entry, { workerData, execArgv: [], name: 'errata-embed' });
    const endGuard = stopAtExit(gate);
    let failure: unknown;
    this.#worker.on('error', (error) => {
      failure = error;
    });
    this.#worker.on('message', (reply: EmbedReply) => this.#settle(reply));
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        endGuard();
        const reason = failure instanceof Error ? failure.message : `exit code ${code}`;
        const error = new ErrataError(
          'MODEL_UNAVAILABLE',
          `Expected a running embedding worker, received its end: ${reason}`,
          { cause: failure },
        );
        this.#gone = error;
        // What ran has ended with the thread; what lay behind it has not begun.
        const [running, ...others] = this.#pending.splice(0);
        running?.reject(error);
        for (const { resolve } of others) resolve(undefined);
        onExit(error);
        resolve();
      });
    });
  }

  /** Inputs that are not answered yet; the first one runs. */
  get waiting(): number {
    return this.#pending.length;
  }

  /** Whether one more input may be sent behind the one that runs. */
  get hasRoomAhead(): boolean {
    return this.#pending.length === 1 && this.#claims.isFree(this.#started);
  }

  /** Resolves with the canary's output when the session is loaded, and with what was opened. */
  async ready(): Promise<ReadySession & InferenceOutput> {
    // The first answer of a worker is always `ready`.
    return (await this.#answer()) as ReadySession & InferenceOutput;
  }

  /**
   * The input's arrays are transferred. Undefined where it was taken back, or the thread ended before it came to it. Errors:
   * `MODEL_UNAVAILABLE` when the runtime fails or the thread ends.
   */
  run(input: InferenceInput): Promise<InferenceOutput | undefined> {
    const answer = this.#answer();
    if (this.#gone !== undefined) return answer;
    const number = this.#started;
    this.#started += 1;
    this.#claims.offer(number);
    const request: EmbedRequest = { type: 'run', number, ...input };
    const { ids, typeIds, lengths } = input;
    this.#worker.postMessage(request, [ids.buffer, lengths.buffer, ...(typeIds ? [typeIds.buffer] : [])]);
    return answer;
  }

  /** Takes the last input back unless it is the one that runs. */
  takeBack(): void {
    if (this.#pending.length > 1 && this.#claims.takeBack(this.#started - 1))
      this.#pending.pop()?.resolve(undefined);
  }

  /** Ends the thread after what it is running, and releases its session. */
  async close(): Promise<void> {
    if (this.#gone !== undefined) return;
    this.takeBack();
    const request: EmbedRequest = { type: 'close' };
    this.#worker.postMessage(request);
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_TIMEOUT_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  #answer(): Promise<InferenceOutput | undefined> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone);
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
    });
  }

  #settle(reply: EmbedReply): void {
    const pending = this.#pending.shift();
    if (pending === undefined) return;
    if (reply.type === 'failed')
      pending.reject(
        new ErrataError(
          'MODEL_UNAVAILABLE',
          `Expected an output from the runtime, received: ${reply.message}`,
        ),
      );
    else pending.resolve(reply);
  }
}
