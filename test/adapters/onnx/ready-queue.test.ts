import { describe, expect, it } from 'vitest';
import { EmbedTask, type Lane } from '../../../src/adapters/onnx/embed-task.js';
import { ALONE, type BatchPolicy, ReadyQueue } from '../../../src/adapters/onnx/ready-queue.js';

function queueOf(
  rows: readonly (readonly [text: string, tokens: number, lane?: Lane, tokenVectors?: boolean])[],
) {
  const queue = new ReadyQueue();
  for (const [text, tokens, lane = 'bulk', tokenVectors = false] of rows)
    queue.push({
      task: new EmbedTask(text, tokenVectors, lane),
      encoded: { ids: new Int32Array(tokens), truncated: false },
    });
  return queue;
}
const take = (queue: ReadyQueue, policy: BatchPolicy) => queue.take(policy).map(({ task }) => task.text);
const equal: BatchPolicy = { kind: 'EQUAL_LENGTHS', interactiveTokens: 20, bulkTokens: 100 };
const padded: BatchPolicy = { ...equal, kind: 'PADDED' };

describe('ReadyQueue', () => {
  it('gives one text a run where texts may not share one, queries first', () => {
    const queue = queueOf([
      ['a', 5],
      ['b', 5],
      ['q', 5, 'interactive'],
    ]);
    expect([take(queue, ALONE), take(queue, ALONE), take(queue, ALONE)]).toEqual([['q'], ['a'], ['b']]);
    expect(take(queue, ALONE)).toEqual([]);
  });

  it('puts texts of the oldest one’s length together, up to the tokens of a run', () => {
    const rows = Array.from({ length: 12 }, (_, at) => [`t${at}`, at % 2 === 0 ? 20 : 30] as const);
    const queue = queueOf(rows);
    expect(take(queue, equal)).toEqual(['t0', 't2', 't4', 't6', 't8']);
    expect(take(queue, equal)).toEqual(['t1', 't3', 't5']);
    expect(take(queue, equal)).toEqual(['t7', 't9', 't11']);
    expect(take(queue, equal)).toEqual(['t10']);
    expect(take(queue, equal)).toEqual([]);
  });

  it('keeps what queries wait for shorter, and lets a text longer than a run go alone', () => {
    const queue = queueOf([
      ['q1', 10, 'interactive'],
      ['q2', 10, 'interactive'],
      ['q3', 10, 'interactive'],
      ['long', 500],
      ['long too', 500],
    ]);
    expect(take(queue, equal)).toEqual(['q1', 'q2']);
    expect(take(queue, equal)).toEqual(['q3']);
    expect(take(queue, equal)).toEqual(['long']);
    expect(take(queue, equal)).toEqual(['long too']);
  });

  it('pads those next by length to the oldest', () => {
    const queue = queueOf([
      ['m', 24],
      ['xl', 200],
      ['s', 2],
      ['m+', 25],
      ['m-', 23],
      ['l', 50],
    ]);
    // Four rows of 25 tokens are 100.
    expect(take(queue, padded)).toEqual(['s', 'm-', 'm', 'm+']);
    expect(take(queue, padded)).toEqual(['xl']);
    expect(take(queue, padded)).toEqual(['l']);
  });

  it('keeps those that want token vectors apart from those that do not', () => {
    const queue = queueOf([
      ['a', 5, 'bulk', true],
      ['b', 5],
      ['c', 5, 'bulk', true],
    ]);
    expect(take(queue, equal)).toEqual(['a', 'c']);
    expect(take(queue, equal)).toEqual(['b']);
  });

  it('moves a bulk text up when a query asks for it', () => {
    const queue = queueOf([['a', 5]]);
    const wanted = new EmbedTask('w', false, 'bulk');
    queue.push({ task: wanted, encoded: { ids: new Int32Array(9), truncated: false } });
    queue.hurry(wanted);
    expect([queue.size('interactive'), queue.size('bulk')]).toEqual([1, 1]);
    expect(take(queue, equal)).toEqual(['w']);
  });
});
