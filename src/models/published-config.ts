import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ErrataError } from '../domain/errors.js';
import type { EmbeddingEntry } from './manifest-schema.js';

/**
 * What a published directory (Hugging Face, sentence-transformers) says about its model. Nothing is assumed: what must be
 * known and is not said there is an error that names the file.
 */
export type PublishedConfig = PublishedEmbedding | PublishedReranker;

export interface PublishedEmbedding
  extends Pick<EmbeddingEntry, 'dimensions' | 'pooling' | 'normalise' | 'prefixes' | 'maxTokens'> {
  readonly task: 'embedding';
}

export interface PublishedReranker {
  readonly task: 'reranking';
  readonly logits: 1 | 2;
  readonly maxTokens: number;
}

const configSchema = z.looseObject({
  architectures: z.array(z.string()).optional(),
  model_type: z.string(),
  hidden_size: z.int().positive().optional(),
  max_position_embeddings: z.int().optional(),
  pad_token_id: z.int().nullish(),
  num_labels: z.int().optional(),
  id2label: z.record(z.string(), z.unknown()).optional(),
});
const modulesSchema = z.array(z.looseObject({ type: z.string(), path: z.string() }));
const poolingSchema = z.looseObject({
  word_embedding_dimension: z.int().positive().optional(),
  embedding_dimension: z.int().positive().optional(),
  /** Newer releases name the mode, older ones have one flag a mode. */
  pooling_mode: z.string().optional(),
  include_prompt: z.boolean().optional(),
});
const transformerSchema = z.looseObject({
  max_seq_length: z.int().positive().nullish(),
  do_lower_case: z.boolean().optional(),
});
const promptsSchema = z.looseObject({
  prompts: z.record(z.string(), z.string()).optional(),
  default_prompt_name: z.string().nullish(),
  similarity_fn_name: z.string().nullish(),
});
const tokenizerConfigSchema = z.looseObject({ model_max_length: z.number().optional() });

type Config = z.infer<typeof configSchema>;

/** Position tables of these begin behind the padding token's id. */
const OFFSET_POSITIONS = /^(xlm-)?roberta|^camembert|^mpnet/;
/** Names that sentence-transformers has given the transformer module's settings over the years. */
const TRANSFORMER_FILES = [
  'bert',
  'roberta',
  'distilbert',
  'camembert',
  'albert',
  'xlm-roberta',
  'xlnet',
].map((kind) => `sentence_${kind}_config.json`);
const POOLING_FLAGS: Readonly<Record<string, EmbeddingEntry['pooling']>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_cls_token: 'cls',
  pooling_mode_lasttoken: 'last',
};
const POOLING_NAMES: Readonly<Record<string, EmbeddingEntry['pooling']>> = {
  mean: 'mean',
  cls: 'cls',
  lasttoken: 'last',
};

/** Errors: `MODEL_UNAVAILABLE` naming the file that is missing, is no such file or says what Errata cannot do. */
export function readPublishedConfig(directory: string): PublishedConfig {
  const config = read(directory, 'config.json', configSchema);
  if (config.architectures?.some((name) => name.endsWith('ForSequenceClassification')))
    return { task: 'reranking', logits: logitsOf(config), maxTokens: longest(directory, '', config) };
  const modules = read(directory, 'modules.json', modulesSchema);
  const kinds = modules.map(({ type }) => type.slice(type.lastIndexOf('.') + 1));
  const unknown = kinds.find((kind) => !['Transformer', 'Pooling', 'Normalize'].includes(kind));
  if (unknown !== undefined || kinds[0] !== 'Transformer' || kinds[1] !== 'Pooling')
    throw refusal('the modules Transformer, Pooling and perhaps Normalize', 'modules.json', kinds.join(', '));
  const pooling = readPooling(directory, join(modules[1]?.path ?? '', 'config.json'));
  const prompts = readOptional(directory, 'config_sentence_transformers.json', promptsSchema);
  // The index compares by cosine, for which the length does not matter; where the length counts, we would rank wrongly.
  if (!kinds.includes('Normalize') && !['cosine', undefined, null].includes(prompts?.similarity_fn_name))
    throw refusal(
      'cosine as similarity',
      'config_sentence_transformers.json',
      String(prompts?.similarity_fn_name),
    );
  return {
    task: 'embedding',
    dimensions: dimensionsOf(pooling.dimensions, config),
    pooling: pooling.mode,
    normalise: true,
    prefixes: prefixesOf(prompts ?? {}, pooling.includesPrompt),
    maxTokens: longest(directory, modules[0]?.path ?? '', config),
  };
}

function logitsOf({ id2label, num_labels }: Config): 1 | 2 {
  const labels = id2label === undefined ? num_labels : Object.keys(id2label).length;
  if (labels === 1 || labels === 2) return labels;
  throw refusal(
    'one or two labels',
    'config.json',
    labels === undefined ? 'no id2label' : `${labels} labels`,
  );
}

function readPooling(directory: string, file: string) {
  const said = read(directory, file, poolingSchema);
  const set = Object.entries(said).filter(
    ([key, value]) => key.startsWith('pooling_mode_') && value === true,
  );
  const names = said.pooling_mode === undefined ? set.map(([key]) => key) : [said.pooling_mode];
  const [name = ''] = names;
  const mode = names.length === 1 ? (POOLING_FLAGS[name] ?? POOLING_NAMES[name]) : undefined;
  if (mode === undefined)
    throw refusal('mean, cls or lasttoken as the one pooling mode', file, names.join(', '));
  const dimensions = said.word_embedding_dimension ?? said.embedding_dimension;
  return { mode, dimensions, includesPrompt: said.include_prompt !== false };
}

function dimensionsOf(pooled: number | undefined, { hidden_size: hidden }: Config): number {
  const dimensions = pooled ?? hidden;
  if (dimensions !== undefined && (hidden === undefined || dimensions === hidden)) return dimensions;
  throw refusal('the dimensions', 'config.json', `hidden_size ${hidden}, pooled ${pooled}`);
}

/** As `encode_query` and `encode_document` of sentence-transformers choose them. */
function prefixesOf(
  { prompts = {}, default_prompt_name: fallback }: z.infer<typeof promptsSchema>,
  includesPrompt: boolean,
): EmbeddingEntry['prefixes'] {
  const standard = fallback ? (prompts[fallback] ?? '') : '';
  const query = prompts.query ?? standard;
  const passage = prompts.document ?? prompts.passage ?? prompts.corpus ?? standard;
  if (includesPrompt || query + passage === '') return { query, passage };
  throw refusal('prompts that are pooled with the text', '1_Pooling/config.json', 'include_prompt false');
}

function longest(directory: string, modulePath: string, config: Config): number {
  const file = TRANSFORMER_FILES.find((name) => existsSync(join(directory, modulePath, name)));
  const said = file === undefined ? undefined : read(directory, join(modulePath, file), transformerSchema);
  if (said?.do_lower_case)
    throw refusal('a tokenizer that lower-cases by itself', file ?? '', 'do_lower_case true');
  if (said?.max_seq_length) return said.max_seq_length;
  const tokenizer = readOptional(directory, join(modulePath, 'tokenizer_config.json'), tokenizerConfigSchema);
  const offset = OFFSET_POSITIONS.test(config.model_type) ? (config.pad_token_id ?? 1) + 1 : 0;
  const positions = config.max_position_embeddings;
  const limits = [tokenizer?.model_max_length, positions === undefined ? undefined : positions - offset];
  // Where a tokenizer has no limit, its file says 10^30.
  const limit = Math.min(...limits.filter((one): one is number => one !== undefined && one > 0 && one < 1e6));
  if (Number.isFinite(limit)) return limit;
  throw refusal('a longest input', 'sentence_bert_config.json, tokenizer_config.json or config.json', 'none');
}

function read<T>(directory: string, file: string, schema: z.ZodType<T>): T {
  const found = readOptional(directory, file, schema);
  if (found === undefined) throw refusal('a published model directory', file, 'no such file');
  return found;
}

function readOptional<T>(directory: string, file: string, schema: z.ZodType<T>): T | undefined {
  const path = join(directory, file);
  if (!existsSync(path)) return undefined;
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new ErrataError('MODEL_UNAVAILABLE', `Expected a readable ${file}, received one with: ${why}`, {
      cause,
    });
  }
}

function refusal(expected: string, file: string, received: string): ErrataError {
  return new ErrataError(
    'MODEL_UNAVAILABLE',
    `Expected ${expected} in ${file}, received ${received || 'none'}`,
  );
}
