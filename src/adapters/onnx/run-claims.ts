/** An input lies at the worker and may still be taken back, or it is the worker's. */
const OFFERED = 1;
const CLAIMED = 2;
const TAKEN_BACK = 3;

/** Two are on their way at once; a few more, so that one is free again although the worker has not come to the last ones yet. */
const SLOTS = 4;
/** Of a state: the rest is the number, so that a message that is not read yet cannot claim what a later one offers in its slot. */
const STATE_BITS = 3;
/** Numbers start anew from here, so that number and state fit a 32-bit integer. */
const NUMBERS = 2 ** 28;

const stateOf = (number: number, state: number): number => (number % NUMBERS) * 4 + state;

/**
 * Who has an input: the worker that it was sent to, or the owner, who wants it back before it runs. In shared memory, since a message
 * would be read after the run that is going on. One a worker; inputs are numbered from 0.
 */
export class RunClaims {
  readonly shared: SharedArrayBuffer;
  readonly #state: Int32Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#state = new Int32Array(shared);
  }

  /** By the owner: whether a number may be offered. False while the worker has not come to the one in its slot. */
  isFree(number: number): boolean {
    return (Atomics.load(this.#state, number % SLOTS) & STATE_BITS) !== OFFERED;
  }

  /** By the owner, before the input is sent; only of a free number. */
  offer(number: number): void {
    Atomics.store(this.#state, number % SLOTS, stateOf(number, OFFERED));
  }

  /** By the worker, before it runs; false where the input was taken back. */
  claim(number: number): boolean {
    return this.#change(number, CLAIMED);
  }

  /** By the owner; false where it runs already. */
  takeBack(number: number): boolean {
    return this.#change(number, TAKEN_BACK);
  }

  #change(number: number, state: number): boolean {
    const offered = stateOf(number, OFFERED);
    return Atomics.compareExchange(this.#state, number % SLOTS, offered, stateOf(number, state)) === offered;
  }
}
