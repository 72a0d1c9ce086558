const IDLE = 0;
const BUSY = 1;
const STOPPED = 2;

/** Longest wait at process exit; loading a session takes about 0.2 s, a run 30 ms. */
const STOP_TIMEOUT_MS = 2_000;

/**
 * Keeps a process from ending while a worker thread is inside ONNX Runtime: its binding then throws across the dying
 * environment and the process aborts with a core dump instead of its exit code. One gate a worker, in shared memory.
 */
export class NativeGate {
  readonly shared: SharedArrayBuffer;
  readonly #state: Int32Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#state = new Int32Array(shared);
  }

  /** In the worker: runs native work, one at a time. Never settles once the gate is stopped. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (Atomics.compareExchange(this.#state, 0, IDLE, BUSY) === STOPPED) return new Promise<never>(() => {});
    try {
      return await work();
    } finally {
      Atomics.store(this.#state, 0, IDLE);
      Atomics.notify(this.#state, 0);
    }
  }

  /** In the owner, while the process exits: blocks until the worker is outside native code, and keeps it there. */
  stop(): void {
    if (Atomics.compareExchange(this.#state, 0, IDLE, STOPPED) !== BUSY) return;
    Atomics.wait(this.#state, 0, BUSY, STOP_TIMEOUT_MS);
    Atomics.compareExchange(this.#state, 0, IDLE, STOPPED);
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
