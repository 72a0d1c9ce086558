// The real worker with one fault, chosen by `?fault=`: what a broken runtime or a crashing thread looks like.
import { existsSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

const parameters = new URL(import.meta.url).searchParams;
const fault = parameters.get('fault');
/** While this file exists, no worker starts. */
const block = parameters.get('block');
const post = parentPort.postMessage.bind(parentPort);

/** [CLS] crash [SEP] */
const isCrashText = (message) => message.type === 'run' && message.ids.join() === '101,5823,102';

if (fault === 'start' || (block !== null && existsSync(block)))
  throw new Error('the runtime cannot be loaded');
if (fault === 'canary' || fault === 'nan' || fault === 'nan-logit') {
  parentPort.postMessage = (message, transfer) => {
    if (fault === 'canary') message.values.reverse();
    if (fault === 'nan' && message.type === 'output') message.values[7] = Number.NaN;
    if (fault === 'nan-logit') message.values[0] = Number.NaN;
    post(message, transfer);
  };
}
if (fault === 'crash') {
  const on = parentPort.on.bind(parentPort);
  parentPort.on = (name, listener) =>
    on(name, (message) => (isCrashText(message) ? process.exit(7) : listener(message)));
}
await import('../../../dist/adapters/onnx/embed-worker.js');
