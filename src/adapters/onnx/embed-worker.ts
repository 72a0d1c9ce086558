/** Entry of an inference worker thread: owns one session and runs one input at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import type { EmbedReply, EmbedRequest, EmbedWorkerData, InferenceInput } from './embed-protocol.js';
import { NativeGate } from './native-gate.js';
import { openSession } from './open-session.js';
import { RunClaims } from './run-claims.js';
import { runModel } from './run-model.js';

async function main(port: NonNullable<typeof parentPort>, options: EmbedWorkerData): Promise<void> {
  const gate = new NativeGate(options.gate);
  const claims = new RunClaims(options.claims);
  // Loading the library is native work too, hence no static import.
  const runtime = await gate.run(() => import('onnxruntime-node'));
  const { session, provider, refused, graph } = await gate.run(() => openSession(runtime, options));
  const run = (input: InferenceInput) => gate.run(() => runModel(runtime, session, input, options.task));
  const reply = (message: EmbedReply) =>
    port.postMessage(
      message,
      message.type === 'failed'
        ? []
        : [message.values.buffer, ...(message.rows ? [message.rows.buffer] : [])],
    );
  const handle = async (request: EmbedRequest) => {
    if (request.type === 'close') {
      await gate.run(() => session.release());
      port.close();
      return;
    }
    if (!claims.claim(request.number)) return;
    try {
      reply({ type: 'output', ...(await run(request)) });
    } catch (error) {
      reply({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
  };
  reply({ type: 'ready', provider, refused, graph, ...(await run(options.canary)) });
  // In turn, so that `close` waits for what runs.
  let last = Promise.resolve();
  port.on('message', (request: EmbedRequest) => {
    last = last.then(() => handle(request));
  });
}

// A rejection ends the thread with an `error` event, which the owner reports.
if (parentPort !== null) await main(parentPort, workerData as EmbedWorkerData);
