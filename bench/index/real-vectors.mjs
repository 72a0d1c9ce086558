// Real embeddings: sentences of the installed packages' documentation, which every machine has, by the project's own embedder.
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEngines } from '../../dist/app/installation.js';
import { parseConfig } from '../../dist/config/parse-config.js';

const packages = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const cache = fileURLToPath(new URL('../../.cache/bench-vectors/', import.meta.url));
const BATCH = 512;
const SHORTEST = 30;
/** About 80 tokens: longer ones take the embedder more time than they add variety. */
const LONGEST = 320;

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(file);
    else if (/\.(md|d\.ts)$/i.test(entry.name)) yield file;
  }
}

/** Paragraphs of Markdown without code, and doc comments of type declarations. */
function paragraphs(file) {
  const text = readFileSync(file, 'utf8');
  if (/\.md$/i.test(file)) return text.replace(/```[\s\S]*?```/g, '\n\n').split(/\n\s*\n/);
  return [...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)].map(([, comment]) => comment.replace(/^\s*\*/gm, ' '));
}

/** Up to `count` different texts: sentences, then two and three neighbouring ones. In a fixed order for one set of packages. */
export function documentationTexts(count) {
  const sentences = new Set();
  const longer = new Set();
  for (const file of filesBelow(packages)) {
    for (const paragraph of paragraphs(file)) {
      const parts = paragraph
        .replace(/\s+/g, ' ')
        .split(/(?<=[.!?])\s+/)
        .map((part) => part.trim());
      parts.forEach((part, i) => {
        if (part.length >= SHORTEST && part.length <= LONGEST) sentences.add(part);
        for (const size of [2, 3]) {
          const text = parts.slice(i, i + size).join(' ');
          if (i + size <= parts.length && text.length >= SHORTEST && text.length <= LONGEST) longer.add(text);
        }
      });
    }
    if (sentences.size >= count) break;
  }
  const texts = [...new Set([...sentences, ...longer])].slice(0, count);
  // Neighbours in a file are alike; queries, the last ones, should not all come from one package.
  const keyed = texts.map((text) => ({ text, key: createHash('sha256').update(text).digest('hex') }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ text }) => text);
}

/**
 * `[texts, dimensions]` float32. Embedding 100,000 texts takes minutes, so vectors are kept in .cache/bench-vectors and an
 * interrupted run goes on where it stopped.
 */
export async function embedTexts(texts, embedder, log) {
  const { dimensions, id } = embedder.model;
  const digest = createHash('sha256')
    .update(`${id}\n${texts.join('\n')}`)
    .digest('hex')
    .slice(0, 16);
  const file = path.join(cache, `${digest}.f32`);
  mkdirSync(cache, { recursive: true });
  const rowBytes = dimensions * 4;
  let done = existsSync(file) ? Math.floor(statSync(file).size / rowBytes) : 0;
  // A run that was killed may have left part of a row.
  if (done > 0) truncateSync(file, done * rowBytes);
  if (done < texts.length) log(`embedding ${texts.length - done} texts into .cache/bench-vectors`);
  while (done < texts.length) {
    const batch = texts.slice(done, done + BATCH);
    const embedded = await embedder.embed(batch, { kind: 'passage', priority: 'bulk' });
    appendFileSync(file, Buffer.concat(embedded.map(({ vector }) => Buffer.from(vector.buffer))));
    done += batch.length;
    if (done % (20 * BATCH) === 0) log(`${done} of ${texts.length} texts embedded`);
  }
  const bytes = readFileSync(file);
  return new Float32Array(bytes.buffer, bytes.byteOffset, texts.length * dimensions);
}

/** `{ rows, queries }`; or `{ missing }` where there are no model or too few texts. */
export async function realVectors({ n, queries, log }) {
  const texts = documentationTexts(n + queries);
  if (texts.length < n + queries)
    return { missing: `the installed packages' documentation has only ${texts.length} texts` };
  let engines;
  try {
    engines = await openEngines(parseConfig({ env: process.env, flags: {} }));
  } catch (error) {
    return { missing: error.message };
  }
  try {
    const { embedder } = engines;
    const all = await embedTexts(texts, embedder, log);
    const at = n * embedder.model.dimensions;
    return { rows: all.slice(0, at), queries: all.slice(at) };
  } finally {
    await engines.close();
  }
}
