// What the churn case does to a partition: changes and searches at a steady rate, whether or not those before have ended, so that
// a stall delays what comes after it as it would delay callers.
import { seededRandom } from '../../dist/evaluation/statistics/seeded-random.js';
import { DIMENSIONS, rowOf } from './data.mjs';

const K = 10;
const TICK_MS = 5;
/** Every so manieth search is asked again exactly. */
const JUDGED = 8;
/** Share of the rows that have the tag, and every so manieth search asks for it. */
const TAGGED = 0.1;
const FILTERED = 4;
const TAG = Uint32Array.of(1);

/** Where a key stands: only keys at rest are judged in answers. */
const REST = { live: 1, gone: 2 };

export class ChurnLoad {
  /** Rows 0…`live`−1 are held, one a key; the other rows of `data` are new ones to come. */
  constructor(data, live) {
    this.data = data;
    this.random = seededRandom(11);
    this.state = new Uint8Array(data.n).fill(0);
    /** Number of the last change of a key: an answer is judged by keys that did not change while it was found. */
    this.changedAt = new Float64Array(data.n);
    this.changes = 0;
    this.heldKeys = Array.from({ length: live }, (_, key) => key);
    this.goneKeys = [];
    this.fresh = live;
    this.tagged = Uint8Array.from({ length: data.n }, () => Number(this.random() < TAGGED));
    for (const key of this.heldKeys) this.state[key] = REST.live;
    this.reset();
  }

  tagsOf = (key) => (this.tagged[key] === 1 ? [1] : []);

  /** Forgets what was measured, not what is held. */
  reset() {
    this.times = { search: [], filtered: [], add: [], remove: [] };
    this.timeline = [];
    this.late = [];
    this.recall = { right: 0, wanted: 0 };
    this.stale = 0;
    this.own = { found: 0, asked: 0 };
    this.done = { searches: 0, added: 0, removed: 0, readded: 0 };
  }

  /**
   * Runs for `seconds`: every `batchMs` a batch of `remove` removals, then one of `add` additions (three of four are keys that were
   * removed before), and `searches` searches a second. Resolves once all has ended; throws what any call threw.
   */
  async run(partition, { seconds, batchMs, remove, add, searches }) {
    const started = performance.now();
    const pending = new Set();
    const failures = [];
    const start = (work) => {
      const one = work.catch((error) => failures.push(error)).finally(() => pending.delete(one));
      pending.add(one);
    };
    let [batches, asked] = [0, 0];
    for (;;) {
      const now = performance.now() - started;
      if (now >= seconds * 1_000 || failures.length > 0) break;
      for (; remove + add > 0 && batches * batchMs <= now; batches += 1) {
        this.late.push(performance.now() - started - batches * batchMs);
        if (remove > 0) start(this.#remove(partition, remove));
        if (add > 0) start(this.#add(partition, add));
      }
      for (; (asked * 1_000) / searches <= now; asked += 1) {
        this.late.push(performance.now() - started - (asked * 1_000) / searches);
        start(this.#search(partition, asked, started));
      }
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
    await Promise.all(pending);
    if (failures.length > 0) throw failures[0];
  }

  #takeFrom(list) {
    const at = Math.floor(this.random() * list.length);
    const key = list[at];
    list[at] = list.at(-1);
    list.pop();
    return key;
  }

  #change(keys) {
    for (const key of keys) {
      this.changes += 1;
      this.changedAt[key] = this.changes;
      this.state[key] = 0;
    }
  }

  #settle(keys, state, list) {
    for (const key of keys) {
      this.changes += 1;
      this.changedAt[key] = this.changes;
      this.state[key] = state;
      list.push(key);
    }
  }

  async #remove(partition, count) {
    const keys = Array.from({ length: Math.min(count, this.heldKeys.length - 1) }, () =>
      this.#takeFrom(this.heldKeys),
    );
    this.#change(keys);
    const began = performance.now();
    const removed = await partition.remove(Float64Array.from(keys));
    this.times.remove.push(performance.now() - began);
    if (removed !== keys.length)
      throw new Error(`Expected ${keys.length} held keys to be removed, received ${removed}`);
    this.#settle(keys, REST.gone, this.goneKeys);
    this.done.removed += keys.length;
  }

  async #add(partition, count) {
    const keys = [];
    for (let i = 0; i < count; i += 1) {
      const again = this.goneKeys.length > 0 && (i % 4 !== 3 || this.fresh >= this.data.n);
      if (!again && this.fresh >= this.data.n) break;
      this.done[again ? 'readded' : 'added'] += 1;
      keys.push(again ? this.#takeFrom(this.goneKeys) : this.fresh++);
    }
    if (keys.length === 0) return;
    this.#change(keys);
    const batch = batchOf(this.data, keys, this.tagsOf);
    const began = performance.now();
    await partition.put(batch);
    this.times.add.push(performance.now() - began);
    this.#settle(keys, REST.live, this.heldKeys);
    await this.#findsItself(partition, keys[0]);
  }

  /** What was acknowledged must be found by its own vector, unless it was removed meanwhile. */
  async #findsItself(partition, key) {
    const before = this.changedAt[key];
    const { keys } = await partition.search(rowOf(this.data.rows, key), K, undefined, undefined);
    if (this.changedAt[key] !== before) return;
    this.own.asked += 1;
    this.own.found += Number(keys.includes(key));
  }

  async #search(partition, number, started) {
    const filtered = number % FILTERED === 1;
    const query = rowOf(this.data.queries, number % this.data.queryCount);
    const before = this.changes;
    const began = performance.now();
    const { keys } = await partition.search(query, K, undefined, filtered ? TAG : undefined);
    const ms = performance.now() - began;
    this.times[filtered ? 'filtered' : 'search'].push(ms);
    this.done.searches += 1;
    const unchanged = (key) => this.changedAt[key] <= before;
    for (const key of keys) {
      const wrong = this.state[key] === REST.gone || (filtered && this.tagged[key] === 0);
      if (wrong && unchanged(key)) this.stale += 1;
    }
    const point = { second: Math.floor((performance.now() - started) / 1_000), ms };
    this.timeline.push(point);
    if (number % JUDGED !== 0) return;
    const exact = await partition.search(query, K, undefined, undefined, undefined, 'scan');
    const wanted = [...exact.keys].filter(unchanged);
    const right = wanted.filter((key) => keys.includes(key)).length;
    this.recall.wanted += wanted.length;
    this.recall.right += right;
    point.recall = wanted.length === 0 ? 1 : right / wanted.length;
  }
}

/** One row a key, of kind 0. */
export function batchOf(data, keys, tagsOf) {
  const vectors = new Float32Array(keys.length * DIMENSIONS);
  keys.forEach((key, i) => {
    vectors.set(rowOf(data.rows, key), i * DIMENSIONS);
  });
  const tags = keys.map(tagsOf);
  const tagBegin = new Uint32Array(keys.length + 1);
  tags.forEach((list, i) => {
    tagBegin[i + 1] = tagBegin[i] + list.length;
  });
  return {
    keys: Float64Array.from(keys),
    orders: Uint32Array.from({ length: keys.length * 4 }, (_, i) => (i % 4 === 3 ? keys[(i - 3) / 4] : 0)),
    rowBegin: Uint32Array.from({ length: keys.length + 1 }, (_, i) => i),
    kinds: new Uint8Array(keys.length),
    vectors,
    tagBegin,
    tags: Uint32Array.from(tags.flat()),
  };
}
