// Makes the starter embedder, for machines without a network: one int8 vector a token, fitted so that the sum over a text's tokens
// points where all-MiniLM-L6-v2's vector of the text does. `node models/starter/make.mjs`; see README.md beside it.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { packStaticVectors, tokenWeights } from '../../dist/adapters/static/static-vectors.js';
import { parseConfig } from '../../dist/config/parse-config.js';
import { findModel } from '../../dist/models/model-directory.js';
import { packCanary } from '../../dist/models/vector-checks.js';
import { collect, TEACHER, tokenize } from './collect.mjs';
import { quantise, reduce, SETTINGS, train } from './train.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const CANARY =
  'The scanner reported CVE-2021-44228, but the vulnerable class is not on the class path: mark it as not affected.';
/** For the test that the product's reader gives the same numbers: ordinary, empty, other scripts, pieces of words, long. */
const REFERENCE_TEXTS = [
  CANARY,
  '',
  'Übergrößenträger naïve café',
  '日本語のテキスト 🙂',
  'parse_url() floccinaucinihilipilification 3.14.159',
  'a reviewer corrected this answer '.repeat(100).trim(),
];

/** Weighted sum over tokens at unit length, in double precision. */
function embed({ rows, scales, dimensions }, ids) {
  const sum = new Float64Array(dimensions);
  const weights = tokenWeights(ids);
  ids.forEach((id, at) => {
    for (let d = 0; d < dimensions; d += 1) sum[d] += weights[at] * scales[id] * rows[id * dimensions + d];
  });
  const norm = Math.sqrt(sum.reduce((total, value) => total + value * value, 0));
  return Float32Array.from(sum, (value) => value / norm);
}

function write(name, bytes) {
  writeFileSync(path.join(here, name), bytes);
  return { path: name, sizeBytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

const log = (line) => console.error(line);
const collected = await collect(log);
const vectors = train(collected, reduce(collected, SETTINGS, log), SETTINGS, log);
const packed = quantise(vectors, SETTINGS.dimensions);
const { directory } = await findModel(TEACHER, { cacheDir: parseConfig({ env: {} }).modelsDir });
// The teacher's own, without white space and without its padding and truncation, which Errata sets itself.
const tokenizer = JSON.parse(readFileSync(path.join(directory, 'tokenizer.json'), 'utf8'));
const weights = write('static-vectors.bin', packStaticVectors(packed));
const words = write(
  'tokenizer.json',
  Buffer.from(JSON.stringify({ ...tokenizer, truncation: null, padding: null })),
);

const { offsets, ids } = await tokenize(collected.tokenizer, REFERENCE_TEXTS);
const reference = REFERENCE_TEXTS.map((text, at) => {
  const own = ids.subarray(offsets[at], offsets[at + 1]);
  return {
    text,
    ids: [...own],
    vector: [...embed(packed, own)].slice(0, 16).map((value) => Number(value.toFixed(7))),
  };
});
write('reference.json', Buffer.from(`${JSON.stringify(reference, undefined, 1)}\n`));
const canary = { text: CANARY, vectorInt8: packCanary(embed(packed, ids.subarray(0, offsets[1]))) };
console.log(
  JSON.stringify(
    {
      files: [
        { ...weights, role: 'weights' },
        { ...words, role: 'tokenizer' },
      ],
      canary,
    },
    undefined,
    2,
  ),
);
console.error(
  `${((weights.sizeBytes + words.sizeBytes) / 1e6).toFixed(2)} MB; put files and canary into models.json`,
);
