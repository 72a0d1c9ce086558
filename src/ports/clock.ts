import type { Instant } from '../domain/note.js';

/** Time as use cases see it, so that tests can set it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** The same moment as an instant. */
  now(): Instant;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  now: () => new Date().toISOString(),
};
