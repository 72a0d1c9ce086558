import { ErrataError } from '../../domain/errors.js';
import type { EmbedWorkerData, InferenceInput, InferenceOutput, ReadySession } from './embed-protocol.js';
import { WorkerThread } from './worker-thread.js';

export interface WorkerPoolOptions {
  readonly entry: URL;
  readonly data: Omit<EmbedWorkerData, 'gate' | 'claims'>;
  readonly size: number;
  /** Refuses a thread whose runtime gives wrong numbers, by throwing. */
  readonly checkCanary: (values: Float32Array) => void;
  /** A worker has become idle. */
  readonly onIdle: () => void;
  /** No worker is alive or starting any more, and the last one never became ready. */
  readonly onDead: (error: ErrataError) => void;
  /** A worker has ended or could not start; the others go on. */
  readonly onWarning: (error: ErrataError) => void;
}

/** While other workers serve, one that could not start is not tried again for this long. */
const RESTART_PAUSE_MS = 10_000;

/**
 * Up to `size` threads. The first is started alone, so that it is ready as early as can be, the others beside its work.
 * A thread that ends while it was good is replaced; one that never became ready is tried again at the next need.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  #data: WorkerPoolOptions['data'];
  #size: number;
  readonly #threads = new Set<WorkerThread>();
  readonly #idle: WorkerThread[] = [];
  /** Those that are good and run something. */
  readonly #busy = new Set<WorkerThread>();
  readonly #starts = new Set<Promise<unknown>>();
  #restartAt = 0;
  #closing: Promise<void> | undefined;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#data = options.data;
    this.#size = options.size;
  }

  get idle(): number {
    return this.#idle.length;
  }

  /** Whether a worker that runs has nothing waiting behind it. */
  get hasRoomAhead(): boolean {
    return this.#nextToEnd() !== undefined;
  }

  /** Whether an input waits at a worker behind what runs there. */
  get hasAhead(): boolean {
    for (const { waiting } of this.#busy) if (waiting > 1) return true;
    return false;
  }

  /**
   * Resolves when one worker is ready, with what it opened; the others follow on the same execution provider, since vectors of two
   * differ in their last bits. Errors: `MODEL_UNAVAILABLE`, `INVALID_VECTOR`, `CLOSED`.
   */
  async start(): Promise<ReadySession> {
    const first = await this.#spawn();
    // Nor does more than one thread write the optimised graph.
    this.#data = { ...this.#data, providers: [first.provider], optimisedTarget: undefined };
    // A device is shared by all runs anyway; a second session would only take its memory.
    if (first.provider !== 'cpu') this.#size = 1;
    this.ensureWorkers();
    return first;
  }

  /** Resolves when no worker is starting any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#starts);
  }

  /** Starts what is missing, without waiting for it. */
  ensureWorkers(): void {
    if (this.#threads.size > 0 && performance.now() < this.#restartAt) return;
    while (this.#closing === undefined && this.#threads.size < this.#size) {
      const start: Promise<unknown> = this.#spawn().catch((error: unknown) => {
        if (this.#closing !== undefined) return;
        this.#restartAt = performance.now() + RESTART_PAUSE_MS;
        this.#options.onWarning(asErrataError(error));
        if (this.#threads.size === 0) this.#options.onDead(asErrataError(error));
      });
      this.#starts.add(start);
      void start.then(() => this.#starts.delete(start));
    }
  }

  /** Runs an input on an idle worker; only to be called while there is one. Errors: `MODEL_UNAVAILABLE`. */
  async run(input: InferenceInput): Promise<InferenceOutput> {
    const thread = this.#idle.pop();
    if (thread === undefined)
      throw new ErrataError('INTERNAL', 'Expected an idle embedding worker, received none');
    const output = await this.#runOn(thread, input);
    if (output === undefined)
      throw new ErrataError('INTERNAL', 'Expected an output of what runs, received it back');
    return output;
  }

  /**
   * Sends an input to a worker that still runs another one, so that it goes on without a pause; only to be called while
   * `hasRoomAhead`. Undefined where it was taken back. Errors: `MODEL_UNAVAILABLE`.
   */
  async runAhead(input: InferenceInput): Promise<InferenceOutput | undefined> {
    const thread = this.#nextToEnd();
    if (thread === undefined)
      throw new ErrataError('INTERNAL', 'Expected an embedding worker with room ahead, received none');
    return this.#runOn(thread, input);
  }

  /** Takes back what waits behind what runs, as far as it has not begun; its `runAhead` resolves with undefined. */
  takeBack(): void {
    for (const thread of this.#busy) thread.takeBack();
  }

  #nextToEnd(): WorkerThread | undefined {
    for (const thread of this.#busy) if (thread.hasRoomAhead) return thread;
    return undefined;
  }

  async #runOn(thread: WorkerThread, input: InferenceInput): Promise<InferenceOutput | undefined> {
    this.#busy.add(thread);
    try {
      return await thread.run(input);
    } finally {
      if (this.#threads.has(thread)) {
        if (thread.waiting === 0 && this.#busy.delete(thread)) this.#idle.push(thread);
        this.#options.onIdle();
      }
    }
  }

  /** Ends every thread after its running text. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.close()));
    await Promise.all(this.#starts);
  }

  async #spawn(): Promise<ReadySession> {
    let good = false;
    const thread = new WorkerThread(this.#options.entry, this.#data, (error) => {
      this.#threads.delete(thread);
      this.#busy.delete(thread);
      const at = this.#idle.indexOf(thread);
      if (at >= 0) this.#idle.splice(at, 1);
      if (!good || this.#closing !== undefined) return;
      this.#options.onWarning(error);
      this.ensureWorkers();
    });
    this.#threads.add(thread);
    try {
      const ready = await thread.ready();
      this.#options.checkCanary(ready.values);
      if (this.#closing !== undefined) return ready;
      good = true;
      this.#idle.push(thread);
      this.#options.onIdle();
      return ready;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }
}

function asErrataError(error: unknown): ErrataError {
  if (error instanceof ErrataError) return error;
  return new ErrataError('MODEL_UNAVAILABLE', 'Expected an embedding worker to start, received an error', {
    cause: error,
  });
}
