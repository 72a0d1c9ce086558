/** Slots of the shared memory: whether the worker is inside native code, and whether it may enter it any more. */
const BUSY = 0;
const STOPPED = 1;

/** Longest wait at process exit; loading a session takes about 0.2 s, a run 30 ms. */
const STOP_TIMEOUT_MS = 2_000;

/**
 * Keeps a process from ending while a worker thread is inside ONNX Runtime: its binding then throws across the dying
 * environment and the process aborts with a core dump instead of its exit code. One gate a worker, in shared memory.
 */
export class NativeGate {
  readonly shared: SharedArrayBuffer;
  readonly #state: Int32Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#state = new Int32Array(shared);
  }

  /** In the worker: runs native work, one at a time. Never settles once the gate is stopped. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    // First busy, then the look at the other slot; `stop` does it the other way round, so one of both sees the other.
    Atomics.store(this.#state, BUSY, 1);
    if (Atomics.load(this.#state, STOPPED) === 1) {
      this.#leave();
      return new Promise<never>(() => {});
    }
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** In the owner, while the process exits: blocks until the worker is outside native code, and keeps it there. */
  stop(): void {
    Atomics.store(this.#state, STOPPED, 1);
    Atomics.wait(this.#state, BUSY, 1, STOP_TIMEOUT_MS);
  }

  #leave(): void {
    Atomics.store(this.#state, BUSY, 0);
    Atomics.notify(this.#state, BUSY);
  }
}

const guarded = new Set<NativeGate>();

function stopAll(): void {
  for (const gate of guarded) gate.stop();
}

/** Stops the gate when the process exits. Returns a function that ends this. */
export function stopAtExit(gate: NativeGate): () => void {
  if (guarded.size === 0) process.on('exit', stopAll);
  guarded.add(gate);
  return () => {
    guarded.delete(gate);
    if (guarded.size === 0) process.off('exit', stopAll);
  };
}
