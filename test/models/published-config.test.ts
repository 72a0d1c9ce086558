import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findModel, readModelDirectory } from '../../src/models/model-directory.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'errata-published-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

type Files = Readonly<Record<string, unknown>>;

const ST = 'sentence_transformers.models';
const MODULES = ['Transformer', 'Pooling', 'Normalize'].map((kind, idx) => ({
  idx,
  name: String(idx),
  path: idx === 0 ? '' : `${idx}_${kind}`,
  type: `${ST}.${kind}`,
}));
const pooling = (mode: string) => ({
  word_embedding_dimension: 8,
  pooling_mode_cls_token: mode === 'cls',
  pooling_mode_mean_tokens: mode === 'mean',
  pooling_mode_max_tokens: mode === 'max',
  pooling_mode_lasttoken: mode === 'last',
});
const CONFIG = {
  architectures: ['BertModel'],
  model_type: 'bert',
  hidden_size: 8,
  max_position_embeddings: 64,
};
const EMBEDDER: Files = {
  'config.json': CONFIG,
  'modules.json': MODULES,
  '1_Pooling/config.json': pooling('mean'),
  'sentence_bert_config.json': { max_seq_length: 32, do_lower_case: false },
  'tokenizer.json': {},
  'onnx/model.onnx': 'weights',
};

async function read(files: Files, precision?: 'int8' | 'fp16' | 'fp32') {
  for (const [path, content] of Object.entries(files)) {
    if (content === undefined) continue;
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), JSON.stringify(content));
  }
  return readModelDirectory(directory, precision);
}

describe('a published directory', () => {
  it('says everything of an embedder', async () => {
    expect(await read(EMBEDDER)).toMatchObject({
      task: 'embedding',
      dimensions: 8,
      pooling: 'mean',
      normalise: true,
      prefixes: { query: '', passage: '' },
      maxTokens: 32,
      precision: 'fp32',
      dynamicQuantisation: false,
      files: [
        {
          path: 'onnx/model.onnx',
          role: 'weights',
          sizeBytes: 9,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        { path: 'tokenizer.json', role: 'tokenizer' },
      ],
    });
  });

  it.each<[string, Files, object]>([
    ['the CLS token', { '1_Pooling/config.json': pooling('cls') }, { pooling: 'cls' }],
    ['the last token', { '1_Pooling/config.json': pooling('last') }, { pooling: 'last' }],
    [
      'the newer form of the pooling',
      { '1_Pooling/config.json': { embedding_dimension: 8, pooling_mode: 'lasttoken' } },
      { pooling: 'last' },
    ],
    [
      'prompts by their names',
      { 'config_sentence_transformers.json': { prompts: { query: 'query: ', document: 'passage: ' } } },
      { prefixes: { query: 'query: ', passage: 'passage: ' } },
    ],
    [
      'a default prompt',
      { 'config_sentence_transformers.json': { prompts: { all: 'x: ' }, default_prompt_name: 'all' } },
      { prefixes: { query: 'x: ', passage: 'x: ' } },
    ],
    [
      'the tokenizer’s length where the transformer has none',
      {
        'sentence_bert_config.json': { max_seq_length: null },
        'tokenizer_config.json': { model_max_length: 48 },
      },
      { maxTokens: 48 },
    ],
    [
      'XLM-R positions, which begin behind the padding’s',
      {
        'sentence_bert_config.json': undefined,
        'tokenizer_config.json': { model_max_length: 1e30 },
        'config.json': {
          ...CONFIG,
          model_type: 'xlm-roberta',
          max_position_embeddings: 514,
          pad_token_id: 1,
        },
      },
      { maxTokens: 512 },
    ],
  ])('is read for %s', async (_, changes, expected) => {
    expect(await read({ ...EMBEDDER, ...changes })).toMatchObject(expected);
  });

  it('says everything of a cross-encoder, with one logit or two', async () => {
    const config = { ...CONFIG, architectures: ['BertForSequenceClassification'] };
    const files = {
      'config.json': { ...config, id2label: { 0: 'x' } },
      'tokenizer.json': {},
      'onnx/model.onnx': 'w',
    };
    expect(await read(files)).toMatchObject({ task: 'reranking', logits: 1, maxTokens: 64 });
    const two = { ...files, 'config.json': { ...config, id2label: { 0: 'no', 1: 'yes' } } };
    expect(await read(two)).toMatchObject({ logits: 2 });
  });

  it.each<[string, Files, RegExp]>([
    [
      'no modules.json',
      { 'modules.json': undefined },
      /Expected a published model directory in modules\.json/,
    ],
    [
      'max pooling',
      { '1_Pooling/config.json': pooling('max') },
      /as the one pooling mode .* pooling_mode_max_tokens/,
    ],
    [
      'two pooling modes',
      { '1_Pooling/config.json': { ...pooling('mean'), pooling_mode_cls_token: true } },
      /as the one pooling mode/,
    ],
    [
      'a dense layer',
      { 'modules.json': [...MODULES, { type: `${ST}.Dense`, path: '3' }] },
      /received .*Dense/,
    ],
    ['other dimensions', { 'config.json': { ...CONFIG, hidden_size: 16 } }, /hidden_size 16, pooled 8/],
    [
      'dot products of vectors of any length',
      {
        'modules.json': MODULES.slice(0, 2),
        'config_sentence_transformers.json': { similarity_fn_name: 'dot' },
      },
      /Expected cosine as similarity/,
    ],
    [
      'lower-casing apart from the tokenizer',
      { 'sentence_bert_config.json': { do_lower_case: true } },
      /lower-cases/,
    ],
    [
      'no length anywhere',
      {
        'sentence_bert_config.json': undefined,
        'config.json': { ...CONFIG, max_position_embeddings: undefined },
      },
      /Expected a longest input/,
    ],
    ['no tokenizer', { 'tokenizer.json': undefined }, /Expected tokenizer\.json/],
    ['no weights', { 'onnx/model.onnx': undefined }, /received none/],
    ['broken JSON', { 'modules.json': { not: 'a list' } }, /Expected a readable modules\.json/],
    [
      'three labels',
      { 'config.json': { ...CONFIG, architectures: ['BertForSequenceClassification'], num_labels: 3 } },
      /received 3 labels/,
    ],
  ])('is refused for %s', async (_, changes, message) => {
    await expect(read({ ...EMBEDDER, ...changes })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message,
    });
  });

  it('has its weights chosen by precision, with their external data', async () => {
    const files = {
      ...EMBEDDER,
      'onnx/model_fp16.onnx': 'half',
      'onnx/model_quantized.onnx': 'int8',
      'onnx/model.onnx_data': 'data',
    };
    const weights = async (precision?: 'int8' | 'fp16' | 'fp32') =>
      (await read(files, precision)).files.filter(({ role }) => role !== 'tokenizer').map(({ path }) => path);
    expect(await weights()).toEqual(['onnx/model.onnx', 'onnx/model.onnx_data']);
    expect(await weights('fp16')).toEqual(['onnx/model_fp16.onnx']);
    expect(await weights('int8')).toEqual(['onnx/model_quantized.onnx']);
    const found = await findModel(`${directory}:int8`, { cacheDir: directory });
    expect(found.entry).toMatchObject({ precision: 'int8', dynamicQuantisation: true });
    await rm(join(directory, 'onnx', 'model.onnx'));
    await expect(readModelDirectory(directory, undefined)).rejects.toMatchObject({
      message: /received onnx\/model_fp16\.onnx, onnx\/model_quantized\.onnx/,
    });
  });
});
