// A cross-encoder of real size without a download: the embedder's own encoder (6 layers, 384 wide, int8, as ms-marco-MiniLM-L6-v2 has) and a
// classification head behind its first token. Its scores mean nothing; its work is that of a real one.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Protobuf: a varint, and a field of bytes. */
function varint(value) {
  const bytes = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}
const bytesField = (number, bytes) => Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
const textField = (number, text) => bytesField(number, Buffer.from(text));
const numberField = (number, value) => Buffer.concat([varint(number * 8), varint(value)]);

/** Numbers of fields and types are those of onnx.proto. */
const FLOAT = 1;
const INT64 = 7;
const node = (type, inputs, output, attributes = []) =>
  bytesField(
    1,
    Buffer.concat([
      ...inputs.map((name) => textField(1, name)),
      textField(2, output),
      textField(4, type),
      ...attributes.map((attribute) => bytesField(5, attribute)),
    ]),
  );
const axis = (value) => Buffer.concat([textField(1, 'axis'), numberField(3, value), numberField(20, 2)]);
const initializer = (name, type, dimensions, raw) =>
  bytesField(
    5,
    Buffer.concat([
      ...dimensions.map((size) => numberField(1, size)),
      numberField(2, type),
      textField(8, name),
      bytesField(9, raw),
    ]),
  );
const output = (name, type) =>
  bytesField(12, Buffer.concat([textField(1, name), bytesField(2, bytesField(1, numberField(1, type)))]));

/** What follows a model's bytes is merged into it: nodes, weights and an output `logits` of `[rows, 1]`. */
function head(dimensions) {
  const weights = Float32Array.from({ length: dimensions }, (_, d) => Math.sin(d + 1));
  const graph = Buffer.concat([
    node('Gather', ['last_hidden_state', 'head_first'], 'head_cls', [axis(1)]),
    node('MatMul', ['head_cls', 'head_weights'], 'logits'),
    initializer('head_first', INT64, [], Buffer.alloc(8)),
    initializer('head_weights', FLOAT, [dimensions, 1], Buffer.from(weights.buffer)),
    output('logits', FLOAT),
  ]);
  return bytesField(7, graph);
}

/** A model directory as a publisher lays it out; `remove()` deletes it. */
export function makeCrossEncoder({ directory, weightsPath, dimensions }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'errata-bench-reranker-'));
  mkdirSync(path.join(folder, 'onnx'));
  const weights = path.join(folder, 'onnx', 'model.onnx');
  writeFileSync(weights, Buffer.concat([readFileSync(weightsPath), head(dimensions)]));
  copyFileSync(path.join(directory, 'tokenizer.json'), path.join(folder, 'tokenizer.json'));
  const config = {
    architectures: ['BertForSequenceClassification'],
    model_type: 'bert',
    id2label: { 0: 'LABEL_0' },
    max_position_embeddings: 512,
  };
  writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
  return { folder, weights, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
