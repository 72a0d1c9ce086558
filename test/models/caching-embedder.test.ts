import { describe, expect, it } from 'vitest';
import { CachingEmbedder } from '../../src/models/caching-embedder.js';
import type { Embedder, EmbedOptions } from '../../src/ports/embedder.js';

/** Counts what reaches it; the vector tells the text's length and the kind. */
class CountingEmbedder implements Embedder {
  readonly model = { id: 'counting@1', name: 'counting', dimensions: 4, maxTokens: 8 };
  readonly asked: string[] = [];
  closed = 0;

  async embed(texts: readonly string[], options: EmbedOptions) {
    this.asked.push(...texts);
    const mark = options.kind === 'query' ? 1 : 2;
    return texts.map((text) => ({
      vector: new Float32Array([text.length, mark, 0, 0]),
      tokens: text.length,
      truncated: text.length > 8,
    }));
  }

  stats() {
    return { truncatedTexts: 3, embeddedTexts: this.asked.length, cacheHits: 0, cacheMisses: 0 };
  }

  async close() {
    this.closed += 1;
  }
}

const query = { kind: 'query' } as const;

describe('CachingEmbedder', () => {
  it('asks once for a query, keeps the order of mixed lists, and counts', async () => {
    const inner = new CountingEmbedder();
    const cache = new CachingEmbedder(inner);
    await cache.embed(['bb', 'dddd'], query);
    const answers = await cache.embed(['a', 'bb', 'ccc', 'dddd'], query);
    expect(answers.map(({ vector }) => vector[0])).toEqual([1, 2, 3, 4]);
    expect(inner.asked).toEqual(['bb', 'dddd', 'a', 'ccc']);
    const { cacheBytes, ...counts } = cache.stats();
    expect(counts).toEqual({ truncatedTexts: 3, embeddedTexts: 4, cacheHits: 2, cacheMisses: 4 });
    // Four vectors with what each entry costs beside them.
    expect(cacheBytes).toBe(4 * 336);
    expect(await cache.embed([], query)).toEqual([]);
  });

  it('does not keep passages, nor mix them up with queries', async () => {
    const inner = new CountingEmbedder();
    const cache = new CachingEmbedder(inner);
    await cache.embed(['a'], query);
    for (let round = 0; round < 2; round += 1) {
      const [answer] = await cache.embed(['a'], { kind: 'passage' });
      expect(answer?.vector[1]).toBe(2);
    }
    expect(inner.asked).toEqual(['a', 'a', 'a']);
    expect(cache.stats()).toMatchObject({ cacheHits: 0, cacheMisses: 1 });
  });

  it('hands out vectors that a caller can change without harm', async () => {
    const cache = new CachingEmbedder(new CountingEmbedder());
    for (let round = 0; round < 3; round += 1) {
      const [answer] = await cache.embed(['abc'], query);
      expect([...(answer?.vector ?? [])]).toEqual([3, 1, 0, 0]);
      answer?.vector.fill(Number.NaN);
    }
  });

  it('tells texts apart that only differ in a lone surrogate', async () => {
    const inner = new CountingEmbedder();
    const cache = new CachingEmbedder(inner);
    await cache.embed(['\ud800', '\ud801'], query);
    await cache.embed(['\ud801'], query);
    expect(inner.asked).toHaveLength(2);
  });

  it('stays under its bound of bytes and drops what was used longest ago', async () => {
    const inner = new CountingEmbedder();
    const cache = new CachingEmbedder(inner, { maxBytes: 3 * (16 + 320) });
    await cache.embed(['a', 'b', 'c'], query);
    await cache.embed(['a'], query);
    await cache.embed(['d'], query);
    inner.asked.length = 0;
    await cache.embed(['a', 'c', 'd'], query);
    expect(inner.asked).toEqual([]);
    await cache.embed(['b'], query);
    expect(inner.asked).toEqual(['b']);
  });

  it('refuses after an abort and after close, and closes the inner embedder', async () => {
    const inner = new CountingEmbedder();
    const cache = new CachingEmbedder(inner);
    await cache.embed(['a'], query);
    await expect(cache.embed(['a'], { kind: 'query', signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    await cache.close();
    expect(inner.closed).toBe(1);
    await expect(cache.embed(['a'], query)).rejects.toMatchObject({ code: 'CLOSED' });
  });
});
