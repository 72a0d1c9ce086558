import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceUsage } from '../../src/ports/model-runtime.js';
import { type Behaviour, MisbehavingServer } from '../adapters/hosted/misbehaving-server.js';
import { type Attempts, FAILURES, RECOVERIES, STOPS } from './hosted-misbehaviours.js';

/** A client of one published shape, as the suite asks it. */
export interface HostedModel {
  /** For two texts, what the service gave for them: rounded, so that right answers are equal. */
  ask(signal?: AbortSignal): Promise<readonly unknown[]>;
  usage(): ServiceUsage;
  close(): Promise<void>;
}

/** A published shape: where its rows are in an answer, and what a row holds. */
export interface HostedShape {
  readonly name: string;
  readonly gives: 'vectors' | 'scores';
  /** Keys that lead to the list of rows. */
  readonly rowsAt: readonly string[];
  /** Where a row holds its value; none: the row is the value and its place is its index. */
  readonly valueAt?: string | undefined;
  /** Without asking the service anything. */
  open(baseUrl: string, attempts: Attempts): HostedModel;
}

type Rows = readonly unknown[];
type Change = (rows: Rows) => Rows;

/** The right answer with other rows. */
export function withRows({ rowsAt }: Pick<HostedShape, 'rowsAt'>, change: Change): Behaviour {
  const at = (value: unknown, path: readonly string[]): unknown => {
    const [key, ...rest] = path;
    if (key === undefined) return change(value as Rows);
    const object = value as Record<string, unknown>;
    return { ...object, [key]: at(object[key], rest) };
  };
  return { change: (answer) => at(answer, rowsAt) };
}

/** The right answer with another value in every row. */
export function withValues(
  shape: Pick<HostedShape, 'rowsAt' | 'valueAt'>,
  of: (value: unknown, row: number) => unknown,
): Behaviour {
  const { valueAt } = shape;
  return withRows(shape, (rows) =>
    rows.map((row, at) => {
      if (valueAt === undefined) return of(row, at);
      const object = row as Record<string, unknown>;
      return { ...object, [valueAt]: of(object[valueAt], at) };
    }),
  );
}

const CALM: Attempts = { backoffMs: 1, timeoutMs: 30_000, deadlineMs: 30_000, concurrency: 1 };

/**
 * What every published shape does with a service that misbehaves: it answers rightly after what passes, and gives a coded error,
 * after no more requests than make sense, for what does not. Places of requests are few, so that one that is never given back hangs
 * the question afterwards, which must be answered rightly in every case.
 */
export function describeHostedModel(shape: HostedShape): void {
  describe(`a hosted model: ${shape.name}`, () => {
    let server: MisbehavingServer;
    let model: HostedModel;
    let right: readonly unknown[];
    beforeAll(async () => {
      server = await MisbehavingServer.start();
      const patient = shape.open(server.baseUrl, CALM);
      right = await patient.ask();
      await patient.close();
      expect(right).toHaveLength(2);
      // An answer in the wrong order must be told from one in the right order.
      expect(right[0]).not.toEqual(right[1]);
      server.received.length = 0;
    });
    afterAll(() => server.stop());
    afterEach(async () => {
      await model.close();
      server.received.length = 0;
      server.behaviours.length = 0;
    });

    const open = (attempts: Partial<Attempts> = {}) => {
      model = shape.open(server.baseUrl, { ...CALM, ...attempts });
    };
    const sent = () => server.received.length;
    const answersRightly = async () => expect(await model.ask()).toEqual(right);
    // A machine under load may be slower than a short time that a case sets.
    const answersAgain = () => expect.poll(() => model.ask().catch(() => 'not yet')).toEqual(right);

    it.each(RECOVERIES)('answers rightly: $what', async ({ of, attempts, requests, leastMs = 0 }) => {
      open(attempts);
      const behaviours = of(shape);
      if (behaviours === undefined) return expect(shape.valueAt).toBeUndefined();
      server.behaviours.push(...behaviours);
      const startedMs = performance.now();
      await answersRightly();
      expect(performance.now() - startedMs).toBeGreaterThanOrEqual(leastMs);
      expect(sent()).toBeGreaterThanOrEqual(requests);
      // A machine under load may let the next attempt run out of a short time, too; nothing else is asked more often.
      if (attempts?.timeoutMs === undefined) expect(sent()).toBe(requests);
      expect(model.usage()).toMatchObject({ retries: sent() - 1, failures: 0 });
      expect(server.behaviours).toEqual([]);
    });

    it.each(FAILURES)('gives a coded error: $what', async (failure) => {
      open(failure.attempts);
      const behaviours = failure.of(shape, server.baseUrl);
      // Said by the table: a list without indexes cannot be doubled or reordered, scores have no dimensions.
      if (behaviours === undefined)
        return expect(shape.valueAt === undefined || shape.gives === 'scores').toBe(true);
      server.behaviours.push(...behaviours);
      const error = await model.ask().catch((thrown: unknown) => thrown);
      const code = typeof failure.code === 'string' ? failure.code : failure.code[shape.gives];
      expect(error).toMatchObject({ code, message: expect.stringMatching(failure.message ?? /^Expected /) });
      // Neither what was sent nor what the service said about it.
      expect((error as Error).message).not.toMatch(/alpha|details/);
      expect(sent()).toBe(failure.requests);
      expect(server.received.map(({ path }) => path).filter((path) => path.includes('elsewhere'))).toEqual(
        [],
      );
      expect(server.behaviours).toEqual([]);
      await answersAgain();
    });

    it.each(STOPS)('ends with ABORTED: $what', async ({ behaviour }) => {
      open({ timeoutMs: 60_000, deadlineMs: 60_000 });
      server.behaviours.push(behaviour);
      const controller = new AbortController();
      const stopped = expect(model.ask(controller.signal)).rejects.toMatchObject({ code: 'ABORTED' });
      await expect.poll(sent).toBe(1);
      // This one waits for the only place.
      const waiting = expect(model.ask(controller.signal)).rejects.toMatchObject({ code: 'ABORTED' });
      controller.abort();
      await stopped;
      await waiting;
      expect(sent()).toBe(1);
      await answersRightly();
    });

    it('gives up a place that does not come free in time', async () => {
      open({ timeoutMs: 60_000, deadlineMs: 150, maxAttempts: 1 });
      server.behaviours.push('silence', 'silence');
      const first = expect(model.ask()).rejects.toMatchObject({ code: 'TIMED_OUT' });
      const second = expect(model.ask()).rejects.toMatchObject({ code: 'TIMED_OUT' });
      // Its deadline ends an attempt that might still run for a minute.
      await first;
      await second;
      server.behaviours.length = 0;
      expect(model.usage().failures).toBeGreaterThanOrEqual(1);
    });

    it('is not asked any more while it fails, and again after the pause', async () => {
      open({ maxAttempts: 1, breakerFailures: 2, breakerPauseMs: 1_000 });
      server.behaviours.push({ status: 500 }, 'break');
      for (const message of [/HTTP 500/, /broken connection/])
        await expect(model.ask()).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', message });
      await expect(model.ask()).rejects.toMatchObject({
        code: 'MODEL_UNAVAILABLE',
        message: /2 failures in a row/,
      });
      expect(sent()).toBe(2);
      await answersAgain();
    });
  });
}
