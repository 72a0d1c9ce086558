import { describe, expect, it } from 'vitest';
import { KeyedMutex } from '../../src/notes/keyed-mutex.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('KeyedMutex', () => {
  it('runs work of one key in order, of other keys beside it', async () => {
    const mutex = new KeyedMutex();
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} in`);
      await turn();
      log.push(`${name} out`);
    };
    await Promise.all([
      mutex.run(['a'], work('1')),
      mutex.run(['a'], work('2')),
      mutex.run(['b'], work('3')),
    ]);
    expect(log.filter((line) => !line.startsWith('3'))).toEqual(['1 in', '1 out', '2 in', '2 out']);
    expect(log.indexOf('3 in')).toBeLessThan(log.indexOf('1 out'));
  });

  it('does not deadlock on keys that cross, and frees them after an error', async () => {
    const mutex = new KeyedMutex();
    let inside = 0;
    const work = async (): Promise<number> => {
      inside += 1;
      expect(inside).toBe(1);
      await turn();
      inside -= 1;
      return 1;
    };
    const runs = [
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'a', 'b'],
      ['b', 'a', 'c'],
    ].map((keys) => mutex.run(keys, work));
    const failed = mutex.run(['a', 'b'], () => Promise.reject(new Error('no')));
    await expect(failed).rejects.toThrow('no');
    expect(await Promise.all([...runs, mutex.run(['b', 'a'], work)])).toEqual([1, 1, 1, 1, 1]);
  });
});
