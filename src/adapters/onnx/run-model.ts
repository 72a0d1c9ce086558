import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { normaliseInPlace, normaliseRows, poolTokens } from '../../models/pooling.js';
import type { InferenceInput, InferenceOutput, InferenceTask } from './embed-protocol.js';

export type Runtime = typeof import('onnxruntime-node');

/** Names that publishers give the token vectors, best first; else the first output. */
const HIDDEN_NAMES = ['last_hidden_state', 'token_embeddings'];

/** Runs one input; inputs of the model are `[rows, columns]` int64. Errors: plain ones with what the model lacks. */
export async function runModel(
  runtime: Runtime,
  session: InferenceSession,
  input: InferenceInput,
  task: InferenceTask,
): Promise<InferenceOutput> {
  const rows = input.lengths.length;
  const columns = input.ids.length / rows;
  const feeds: Record<string, Tensor> = {};
  for (const name of session.inputNames)
    feeds[name] = new runtime.Tensor('int64', inputValues(name, input, columns), [rows, columns]);
  const outputs = await session.run(feeds);
  try {
    return task.kind === 'embedding'
      ? pooled(numbersOf(outputs, session, HIDDEN_NAMES), input, columns, task)
      : { values: logitsOf(numbersOf(outputs, session, ['logits']), rows, task.logits) };
  } finally {
    for (const output of Object.values(outputs)) output.dispose();
  }
}

function inputValues(
  name: string,
  { ids, typeIds, lengths }: InferenceInput,
  columns: number,
): BigInt64Array {
  if (name === 'input_ids') return widened(ids);
  const values = new BigInt64Array(ids.length);
  if (name === 'attention_mask')
    for (const [row, length] of lengths.entries()) values.fill(1n, row * columns, row * columns + length);
  else if (name === 'token_type_ids') {
    return typeIds === undefined ? values : widened(typeIds);
  } else
    throw new Error(
      `Expected input_ids, attention_mask or token_type_ids for a model input, received ${name}`,
    );
  return values;
}

/** Writes the low words: no BigInt is made for a token. */
function widened(values: Int32Array): BigInt64Array {
  const wide = new BigInt64Array(values.length);
  const words = new Int32Array(wide.buffer);
  // Ids are never negative, so that the high words stay 0.
  for (let at = 0; at < values.length; at += 1) words[2 * at + LOW_WORD] = values[at] ?? 0;
  return wide;
}

/** Which half of a 64-bit number comes first here. */
const LOW_WORD = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1;

function numbersOf(
  outputs: InferenceSession.ReturnType,
  session: InferenceSession,
  names: readonly string[],
): Float32Array {
  const name = names.find((one) => session.outputNames.includes(one)) ?? session.outputNames[0] ?? '';
  const output = outputs[name];
  if (output?.data instanceof Float32Array) return output.data;
  if (output?.type === 'float16') return Float32Array.from(output.data as ArrayLike<number>, fromHalf);
  throw new Error(`Expected a float32 or float16 output for ${name}, received ${output?.type ?? 'none'}`);
}

/** Where the platform has float16 arrays, their elements are numbers already; else they are bit patterns. */
const HALVES_ARE_NUMBERS = 'Float16Array' in globalThis;

/** IEEE 754 binary16. */
function fromHalf(half: number): number {
  if (HALVES_ARE_NUMBERS) return half;
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function logitsOf(logits: Float32Array, rows: number, count: number): Float32Array<ArrayBuffer> {
  if (logits.length !== rows * count)
    throw new Error(`Expected ${count} logits a pair, received ${logits.length / rows}`);
  // A copy: the runtime owns the output's memory.
  return new Float32Array(logits);
}

function pooled(
  hidden: Float32Array,
  { lengths, tokenRows }: InferenceInput,
  columns: number,
  { dimensions, pooling, normalise }: Extract<InferenceTask, { kind: 'embedding' }>,
): InferenceOutput {
  const stride = columns * dimensions;
  if (hidden.length !== lengths.length * stride)
    throw new Error(
      `Expected ${lengths.length * stride} numbers for last_hidden_state, received ${hidden.length}`,
    );
  const values = new Float32Array(lengths.length * dimensions);
  for (const [row, tokens] of lengths.entries()) {
    const vector = poolTokens(hidden.subarray(row * stride, (row + 1) * stride), tokens, dimensions, pooling);
    if (normalise) normaliseInPlace(vector);
    values.set(vector, row * dimensions);
  }
  return { values, rows: tokenRows ? tokenVectors(hidden, lengths, stride, dimensions) : undefined };
}

/** The real tokens' rows, unit length, without padding: `[sum of lengths, dimensions]`. */
function tokenVectors(
  hidden: Float32Array,
  lengths: Int32Array,
  stride: number,
  dimensions: number,
): Float32Array<ArrayBuffer> {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const rows = new Float32Array(total * dimensions);
  let at = 0;
  for (const [row, length] of lengths.entries()) {
    rows.set(hidden.subarray(row * stride, row * stride + length * dimensions), at);
    at += length * dimensions;
  }
  return normaliseRows(rows, dimensions);
}
