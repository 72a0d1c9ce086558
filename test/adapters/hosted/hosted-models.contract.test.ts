import { describe, expect, it } from 'vitest';
import { HostedClient } from '../../../src/adapters/hosted/hosted-client.js';
import { createHostedEmbedder, HostedEmbedder } from '../../../src/adapters/hosted/hosted-embedder.js';
import { HostedReranker } from '../../../src/adapters/hosted/hosted-reranker.js';
import { EMBED_SHAPES, type HostedKind, RERANK_SHAPES } from '../../../src/adapters/hosted/hosted-shapes.js';
import type { Attempts } from '../../contract/hosted-misbehaviours.js';
import {
  describeHostedModel,
  type HostedModel,
  type HostedShape,
  withValues,
} from '../../contract/hosted-model.contract.js';
import { MisbehavingServer } from './misbehaving-server.js';

/** Of the server's vectors. */
const DIMENSIONS = 4;
const TEXTS = ['alpha', 'beta and more'];
const redact = (text: string) => text;
const rounded = (values: Iterable<number>) => Array.from(values, (value) => Number(value.toFixed(5)));

function openEmbedder(kind: HostedKind, baseUrl: string, attempts: Attempts): HostedModel {
  const options = { name: { kind, model: 'm-v3' }, baseUrl, key: 'sk-test', redact, ...attempts };
  const embedder = new HostedEmbedder(new HostedClient(options), EMBED_SHAPES[kind], options, DIMENSIONS);
  return {
    ask: async (signal) =>
      (await embedder.embed(TEXTS, { kind: 'passage', signal })).map(({ vector }) => rounded(vector)),
    usage: () => embedder.usage(),
    close: () => embedder.close(),
  };
}

function openReranker(kind: HostedKind, baseUrl: string, attempts: Attempts): HostedModel {
  const name = { kind, model: 'm' };
  const reranker = new HostedReranker({ name, baseUrl, key: 'sk-test', redact, ...attempts });
  return {
    ask: async (signal) =>
      rounded(await reranker.rerank('alpha?', TEXTS, signal === undefined ? {} : { signal })),
    usage: () => reranker.usage(),
    close: () => reranker.close(),
  };
}

/** Where the rows of an answer are; the rest of a shape's form is checked in hosted-models.test.ts. */
const EMBED_ROWS: Readonly<Record<keyof typeof EMBED_SHAPES, Pick<HostedShape, 'rowsAt' | 'valueAt'>>> = {
  openai: { rowsAt: ['data'], valueAt: 'embedding' },
  cohere: { rowsAt: ['embeddings', 'float'] },
  jina: { rowsAt: ['data'], valueAt: 'embedding' },
  voyage: { rowsAt: ['data'], valueAt: 'embedding' },
};
const RERANK_ROWS: Readonly<Record<keyof typeof RERANK_SHAPES, Pick<HostedShape, 'rowsAt' | 'valueAt'>>> = {
  cohere: { rowsAt: ['results'], valueAt: 'relevance_score' },
  jina: { rowsAt: ['results'], valueAt: 'relevance_score' },
  voyage: { rowsAt: ['data'], valueAt: 'relevance_score' },
};

// Every shape that the code knows, so that a new one is in the suite or does not compile.
for (const kind of Object.keys(EMBED_SHAPES) as (keyof typeof EMBED_SHAPES)[])
  describeHostedModel({
    name: `${kind}, embeddings`,
    gives: 'vectors',
    ...EMBED_ROWS[kind],
    open: (baseUrl, attempts) => openEmbedder(kind, baseUrl, attempts),
  });
for (const kind of Object.keys(RERANK_SHAPES) as (keyof typeof RERANK_SHAPES)[])
  describeHostedModel({
    name: `${kind}, rerank`,
    gives: 'scores',
    ...RERANK_ROWS[kind],
    open: (baseUrl, attempts) => openReranker(kind, baseUrl, attempts),
  });

describe.each(Object.keys(EMBED_SHAPES) as HostedKind[])('opening a hosted embedder of %s', (kind) => {
  it('asks one text for the dimensions, and refuses a service that fails or gives none', async () => {
    const server = await MisbehavingServer.start();
    try {
      const open = () =>
        createHostedEmbedder({ name: { kind, model: 'm' }, baseUrl: server.baseUrl, redact, backoffMs: 1 });
      const embedder = await open();
      expect(embedder.model.dimensions).toBe(DIMENSIONS);
      expect(server.received).toHaveLength(1);
      await embedder.close();
      server.behaviours.push(...Array.from({ length: 4 }, () => ({ status: 500 })));
      await expect(open()).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', message: /HTTP 500/ });
      for (const [vector, code] of [
        [[], 'INVALID_VECTOR'],
        [[0, 0, 0, 0], 'INVALID_VECTOR'],
        [[null, 1], 'INVALID_VECTOR'],
        ['AAAA', 'MODEL_UNAVAILABLE'],
      ] as const) {
        server.behaviours.push(withValues(EMBED_ROWS[kind], () => vector));
        await expect(open()).rejects.toMatchObject({ code });
      }
    } finally {
      server.stop();
    }
  });
});
