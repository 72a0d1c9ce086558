// Prints the instruction set in use, then twenty answers over seeded data: run once for each ERRATA_ISA and compared.
import { createRequire } from 'node:module';

const addon = createRequire(import.meta.url)(process.argv[2]);
const dimensions = 100; // no multiple of a register: tails take part
const rows = 2000;

let state = 42;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) | 0;
  return state / 2 ** 31;
};
const randomUnit = () => {
  const vector = Float32Array.from({ length: dimensions }, random);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
};

const count = (n) => Uint32Array.from({ length: n + 1 }, (_, i) => i);
const vectors = new Float32Array(rows * dimensions);
for (let row = 0; row < rows; row += 1) vectors.set(randomUnit(), row * dimensions);
const partition = new addon.Partition({ dimensions, graphThreshold: 1_000_000 });
await partition.put({
  keys: Float64Array.from({ length: rows }, (_, i) => i),
  orders: new Uint32Array(rows * 4),
  rowBegin: count(rows),
  kinds: new Uint8Array(rows),
  vectors,
  tagBegin: new Uint32Array(rows + 1),
  tags: new Uint32Array(),
});
console.log(addon.isa());
for (let i = 0; i < 20; i += 1) {
  const answer = await partition.search(randomUnit(), 10, undefined, undefined);
  console.log([...answer.keys].join(' '), Buffer.from(answer.scores.buffer).toString('hex'));
}
partition.close();
