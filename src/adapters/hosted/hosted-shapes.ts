import { z } from 'zod';
import type { EmbeddingKind } from '../../ports/embedder.js';

/** Kinds of services; the first part of a hosted model's name, `openai:text-embedding-3-small`. */
export const HOSTED_KINDS = ['openai', 'cohere', 'jina', 'voyage'] as const;
export type HostedKind = (typeof HOSTED_KINDS)[number];

export interface HostedName {
  readonly kind: HostedKind;
  readonly model: string;
}

/** Undefined for names of local models. */
export function parseHostedName(name: string): HostedName | undefined {
  const kind = HOSTED_KINDS.find((one) => name.startsWith(`${one}:`));
  if (kind === undefined || name.length === kind.length + 1) return undefined;
  return { kind, model: name.slice(kind.length + 1) };
}

/** One vector or score an input, by its index in the request. */
export interface Indexed<T> {
  readonly items: readonly { readonly index: number; readonly value: T }[];
  readonly billedUnits?: number | undefined;
}

export interface EmbedShape {
  readonly baseUrl: string;
  readonly path: string;
  /** Most texts of a request, as the service documents it. */
  readonly maxTexts: number;
  body(model: string, texts: readonly string[], kind: EmbeddingKind): object;
  /** Errors: a ZodError for an answer of another form. */
  parse(answer: unknown): Indexed<readonly number[]>;
}

export interface RerankShape {
  readonly baseUrl: string;
  readonly path: string;
  readonly maxPassages: number;
  body(model: string, query: string, passages: readonly string[]): object;
  /** Scores are chances, 0…1. Errors: a ZodError. */
  parse(answer: unknown): Indexed<number>;
}

const usage = z.looseObject({ total_tokens: z.number().optional() }).optional();
/** JSON has no NaN; some servers write it as null, and it must be told apart from a short list. */
const number = z.number().nullable();
const value = (one: number | null): number => one ?? Number.NaN;

const dataSchema = z.looseObject({
  data: z.array(z.looseObject({ index: z.int(), embedding: z.array(number) })),
  usage,
});

function parseData(answer: unknown): Indexed<readonly number[]> {
  const { data, usage: used } = dataSchema.parse(answer);
  const items = data.map(({ index, embedding }) => ({ index, value: embedding.map(value) }));
  return { items, billedUnits: used?.total_tokens };
}

const cohereEmbedSchema = z.looseObject({
  embeddings: z.looseObject({ float: z.array(z.array(number)) }),
  meta: z
    .looseObject({ billed_units: z.looseObject({ input_tokens: z.number().optional() }).optional() })
    .optional(),
});

export const EMBED_SHAPES: Readonly<Record<HostedKind, EmbedShape>> = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    path: '/embeddings',
    maxTexts: 256,
    body: (model, texts) => ({ model, input: texts, encoding_format: 'float' }),
    parse: parseData,
  },
  cohere: {
    baseUrl: 'https://api.cohere.com/v2',
    path: '/embed',
    maxTexts: 96,
    body: (model, texts, kind) => ({
      model,
      texts,
      input_type: kind === 'query' ? 'search_query' : 'search_document',
      embedding_types: ['float'],
      truncate: 'END',
    }),
    parse(answer) {
      const { embeddings, meta } = cohereEmbedSchema.parse(answer);
      const items = embeddings.float.map((embedding, index) => ({ index, value: embedding.map(value) }));
      return { items, billedUnits: meta?.billed_units?.input_tokens };
    },
  },
  jina: {
    baseUrl: 'https://api.jina.ai/v1',
    path: '/embeddings',
    maxTexts: 256,
    body: (model, texts, kind) => ({
      model,
      input: texts,
      embedding_type: 'float',
      // Models before the third generation know no tasks and refuse them.
      ...(/-v[3-9]/.test(model) ? { task: kind === 'query' ? 'retrieval.query' : 'retrieval.passage' } : {}),
    }),
    parse: parseData,
  },
  voyage: {
    baseUrl: 'https://api.voyageai.com/v1',
    path: '/embeddings',
    maxTexts: 128,
    body: (model, texts, kind) => ({
      model,
      input: texts,
      input_type: kind === 'query' ? 'query' : 'document',
      truncation: true,
    }),
    parse: parseData,
  },
};

const scored = z.array(z.looseObject({ index: z.int(), relevance_score: number }));
const resultsSchema = z.looseObject({
  results: scored,
  usage,
  meta: z
    .looseObject({ billed_units: z.looseObject({ search_units: z.number().optional() }).optional() })
    .optional(),
});
const voyageSchema = z.looseObject({ data: scored, usage });

const toItems = (rows: z.infer<typeof scored>) =>
  rows.map(({ index, relevance_score }) => ({ index, value: value(relevance_score) }));

function parseResults(answer: unknown): Indexed<number> {
  const { results, usage: used, meta } = resultsSchema.parse(answer);
  return {
    items: toItems(results),
    billedUnits: meta?.billed_units?.search_units ?? used?.total_tokens,
  };
}

const rerankBody = (model: string, query: string, documents: readonly string[]) => ({
  model,
  query,
  documents,
  top_n: documents.length,
});

/** OpenAI has no rerank API; servers that are compatible with it (vLLM, TEI behind a gateway) offer Jina's. */
export const RERANK_SHAPES: Readonly<Record<Exclude<HostedKind, 'openai'>, RerankShape>> = {
  cohere: {
    baseUrl: 'https://api.cohere.com/v2',
    path: '/rerank',
    maxPassages: 1_000,
    body: rerankBody,
    parse: parseResults,
  },
  jina: {
    baseUrl: 'https://api.jina.ai/v1',
    path: '/rerank',
    maxPassages: 1_000,
    body: (model, query, documents) => ({ ...rerankBody(model, query, documents), return_documents: false }),
    parse: parseResults,
  },
  voyage: {
    baseUrl: 'https://api.voyageai.com/v1',
    path: '/rerank',
    maxPassages: 1_000,
    body: (model, query, documents) => ({
      model,
      query,
      documents,
      top_k: documents.length,
      truncation: true,
    }),
    parse(answer) {
      const { data, usage: used } = voyageSchema.parse(answer);
      return { items: toItems(data), billedUnits: used?.total_tokens };
    },
  },
};
