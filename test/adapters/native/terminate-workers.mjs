// Terminates workers at different moments of native work; a crash would take this whole process down.
import { Worker } from 'node:worker_threads';

const source = `
  const { parentPort, workerData } = require('node:worker_threads');
  const addon = require(workerData);
  const dimensions = 128;
  const rows = 2000;
  const partition = new addon.Partition({ dimensions, graphThreshold: 500 });
  const vectors = Float32Array.from({ length: rows * dimensions }, (_, i) => Math.sin(i * i + 1));
  const row = (i) => vectors.subarray(i * dimensions, (i + 1) * dimensions);
  for (let i = 0; i < rows; i += 1) addon.normalize(row(i));
  const keys = Float64Array.from({ length: rows }, (_, i) => i);
  const put = () => partition.put({
    keys, orders: new Uint32Array(rows * 4), rowBegin: Uint32Array.from({ length: rows + 1 }, (_, i) => i),
    kinds: new Uint8Array(rows), vectors, tagBegin: new Uint32Array(rows + 1), tags: new Uint32Array(),
  });
  for (let i = 0; i < 4; i += 1) put();
  const busy = async () => {
    for (;;) await Promise.all(Array.from({ length: 8 }, (_, i) => partition.scoresOf(row(i), keys)));
  };
  busy();
  parentPort.postMessage('busy');
`;

const [, , addonFile] = process.argv;
for (let round = 0; round < 20; round += 1) {
  const worker = new Worker(source, { eval: true, workerData: addonFile });
  await new Promise((resolve) => worker.once('message', resolve));
  // The point is to hit many moments, not a certain one.
  await new Promise((resolve) => setTimeout(resolve, (round * 3) % 40));
  await worker.terminate();
}
console.log('survived');
