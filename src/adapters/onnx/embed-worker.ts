/** Entry of an embedding worker thread: owns one inference session and runs one text at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { normaliseInPlace, normaliseRows, poolTokens } from '../../models/pooling.js';
import type { EmbedOutput, EmbedReply, EmbedRequest, EmbedWorkerData } from './embed-protocol.js';
import { NativeGate } from './native-gate.js';

/** Only errors: a model's own warnings would go to stderr past the log. */
const LOG_ERRORS = 3;

type Runtime = typeof import('onnxruntime-node');

function openSession(runtime: Runtime, options: EmbedWorkerData): Promise<InferenceSession> {
  return runtime.InferenceSession.create(options.weightsPath, {
    executionProviders: ['cpu'],
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: LOG_ERRORS,
  });
}

/** Token ids `[tokens]` to the text's vector `[dimensions]`; inputs are `[1, tokens]` int64, without padding. */
async function embed(
  runtime: Runtime,
  session: InferenceSession,
  ids: Int32Array,
  options: EmbedWorkerData,
  tokenRows: boolean,
): Promise<EmbedOutput> {
  const shape = [1, ids.length];
  const feeds: Record<string, Tensor> = {};
  for (const name of session.inputNames)
    feeds[name] = new runtime.Tensor('int64', inputValues(name, ids), shape);
  const outputs = await session.run(feeds);
  const hidden = outputs[session.outputNames[0] ?? ''];
  if (hidden === undefined || !(hidden.data instanceof Float32Array))
    throw new Error('Expected a float32 output for last_hidden_state, received none');
  const { dimensions, pooling, normalise } = options;
  if (hidden.data.length !== ids.length * dimensions)
    throw new Error(
      `Expected ${ids.length * dimensions} numbers for last_hidden_state, received ${hidden.data.length}`,
    );
  const vector = poolTokens(hidden.data, ids.length, dimensions, pooling);
  // A copy: the runtime owns the output's memory.
  const rows = tokenRows ? normaliseRows(new Float32Array(hidden.data), dimensions) : undefined;
  for (const output of Object.values(outputs)) output.dispose();
  if (normalise) normaliseInPlace(vector);
  return { vector, rows };
}

function inputValues(name: string, ids: Int32Array): BigInt64Array {
  if (name === 'input_ids') return BigInt64Array.from(ids, BigInt);
  if (name === 'attention_mask') return new BigInt64Array(ids.length).fill(1n);
  if (name === 'token_type_ids') return new BigInt64Array(ids.length);
  throw new Error(`Expected input_ids, attention_mask or token_type_ids for a model input, received ${name}`);
}

async function main(port: NonNullable<typeof parentPort>, options: EmbedWorkerData): Promise<void> {
  const gate = new NativeGate(options.gate);
  // Loading the library is native work too, hence no static import.
  const runtime = await gate.run(() => import('onnxruntime-node'));
  const session = await gate.run(() => openSession(runtime, options));
  const reply = (message: EmbedReply) =>
    port.postMessage(
      message,
      message.type === 'failed'
        ? []
        : [message.vector.buffer, ...(message.rows ? [message.rows.buffer] : [])],
    );
  const handle = async (request: EmbedRequest) => {
    if (request.type === 'close') {
      await gate.run(() => session.release());
      port.close();
      return;
    }
    try {
      const { ids, tokenRows } = request;
      reply({ type: 'vector', ...(await gate.run(() => embed(runtime, session, ids, options, tokenRows))) });
    } catch (error) {
      reply({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
  };
  reply({
    type: 'ready',
    ...(await gate.run(() => embed(runtime, session, options.canaryIds, options, false))),
  });
  // In turn, so that `close` waits for the text that runs.
  let last = Promise.resolve();
  port.on('message', (request: EmbedRequest) => {
    last = last.then(() => handle(request));
  });
}

// A rejection ends the thread with an `error` event, which the owner reports.
if (parentPort !== null) await main(parentPort, workerData as EmbedWorkerData);
