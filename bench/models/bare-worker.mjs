// A thread that runs a model on token ids and nothing else: what embedding cannot be faster than. Takes the next text from a shared counter.
import { parentPort, workerData } from 'node:worker_threads';
import * as runtime from 'onnxruntime-node';

const { weightsPath } = workerData;
const session = await runtime.InferenceSession.create(weightsPath, {
  executionProviders: ['cpu'],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
});

parentPort.on('message', async ({ texts, counter }) => {
  const next = new Int32Array(counter);
  for (let at = Atomics.add(next, 0, 1); at < texts.length; at = Atomics.add(next, 0, 1)) {
    const { ids, typeIds } = texts[at];
    const shape = [1, ids.length];
    const feeds = {
      input_ids: new runtime.Tensor('int64', ids, shape),
      attention_mask: new runtime.Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
      token_type_ids: new runtime.Tensor('int64', typeIds, shape),
    };
    const outputs = await session.run(feeds);
    for (const output of Object.values(outputs)) output.dispose();
  }
  parentPort.postMessage('done');
});
parentPort.postMessage('ready');
