import { describe, expect, it } from 'vitest';
import { singleInput } from '../../../src/adapters/onnx/embed-protocol.js';
import { givenLayout, measureLayout } from '../../../src/adapters/onnx/session-layout.js';

/** Two layouts whose runs take so long, on a clock of their own. */
async function measured(threads: number, takes: { separate: number; shared: number }) {
  let nowMs = 0;
  let inputs = 0;
  const runs = { separate: 0, shared: 0 };
  const layout = await measureLayout({
    threads,
    // Side by side: the time passes once for all of them.
    separate: {
      async run() {
        runs.separate += 1;
        if (runs.separate % threads === 0) nowMs += takes.separate;
      },
    },
    shared: {
      async run() {
        runs.shared += 1;
        nowMs += takes.shared;
      },
    },
    input: () => {
      inputs += 1;
      return singleInput(Int32Array.of(1, 2));
    },
    nowMs: () => nowMs,
  });
  expect(inputs).toBe(runs.separate + runs.shared);
  return { layout, nowMs, rounds: runs.separate / threads };
}

describe('the layout of sessions', () => {
  it('is one session with all threads where that is clearly faster', async () => {
    // Four texts: 10 ms side by side, 4 × 2 one after the other.
    const { layout } = await measured(4, { separate: 10, shared: 2 });
    expect(layout).toEqual({ sessions: 1, threadsPerSession: 4 });
  });

  it('is a session a thread where that is faster, or about as fast', async () => {
    const many = { sessions: 4, threadsPerSession: 1 };
    expect((await measured(4, { separate: 10, shared: 4 })).layout).toEqual(many);
    expect((await measured(4, { separate: 10, shared: 2.4 })).layout).toEqual(many);
  });

  it('is measured for 150 ms, for a slow model once', async () => {
    expect((await measured(2, { separate: 1, shared: 1 })).rounds).toBe(20);
    const moderate = await measured(2, { separate: 10, shared: 10 });
    expect(moderate.nowMs).toBeGreaterThanOrEqual(150);
    expect(moderate.nowMs).toBeLessThan(180);
    expect((await measured(2, { separate: 900, shared: 300 })).rounds).toBe(1);
  });

  it('is given for one thread, and for weights that are too large to hold twice', () => {
    expect(givenLayout(1, 1e6)).toEqual({ sessions: 1, threadsPerSession: 1 });
    expect(givenLayout(4, 2e9)).toEqual({ sessions: 1, threadsPerSession: 4 });
    expect(givenLayout(4, 23e6)).toBeUndefined();
  });
});
