// A process that exits while workers load or run: `node exit-while-running.mjs MODEL_DIR TEXTS`, after so many texts.
import { createOnnxEmbedder } from '../../../dist/adapters/onnx/create-onnx-embedder.js';
import { knownModel } from '../../../dist/models/manifest.js';

const [modelDir, texts] = process.argv.slice(2);
const embedder = await createOnnxEmbedder({
  modelDir,
  manifestEntry: knownModel('all-MiniLM-L6-v2'),
  workers: 2,
});
const long = Array.from({ length: 500 }, (_, at) => `${at} ${'a rather long text '.repeat(60)}`);
embedder.embed(long, { kind: 'passage' }).catch(() => {});
while (embedder.stats().embeddedTexts < Number(texts)) await new Promise((resolve) => setImmediate(resolve));
process.exit(3);
