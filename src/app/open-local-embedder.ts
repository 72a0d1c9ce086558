import { join } from 'node:path';
import { createOnnxEmbedder, type OnnxEmbedderOptions } from '../adapters/onnx/create-onnx-embedder.js';
import { HubTokenizer } from '../adapters/onnx/hub-tokenizer.js';
import { StaticEmbedder } from '../adapters/static/static-embedder.js';
import { readStaticVectors } from '../adapters/static/static-vectors.js';
import { verifyModel } from '../models/installed-models.js';
import { fileOfRole, shippedManifest } from '../models/manifest.js';
import type { EmbeddingEntry } from '../models/manifest-schema.js';
import { checkCanary } from '../models/vector-checks.js';
import type { Embedder } from '../ports/embedder.js';

/** The embedder that ships with Errata, for machines where no model can be pulled. */
export const STARTER = 'starter';

/** Opens an installed embedding model of either format. Errors: as `createOnnxEmbedder`. */
export async function openLocalEmbedder(options: OnnxEmbedderOptions): Promise<Embedder> {
  const { manifestEntry: entry } = options;
  return entry.format === 'static' ? openStatic(options.modelDir, entry) : createOnnxEmbedder(options);
}

async function openStatic(directory: string, entry: EmbeddingEntry): Promise<Embedder> {
  await verifyModel(directory, entry);
  const at = (role: 'tokenizer' | 'weights') => join(directory, fileOfRole(entry, role).path);
  const [tokenizer, vectors] = await Promise.all([
    HubTokenizer.open(at('tokenizer'), entry.maxTokens),
    readStaticVectors(at('weights')),
  ]);
  const notice = entry.name === STARTER ? starterNotice() : undefined;
  const parts = { entry, tokenizer, vectors, notice };
  if (entry.canary !== undefined) {
    // By one of its own, so that the check is not counted as a text.
    const [canary] = await new StaticEmbedder(parts).embed([entry.canary.text], { kind: 'query' });
    if (canary !== undefined) checkCanary(canary.vector, entry);
  }
  return new StaticEmbedder(parts);
}

function starterNotice(): string {
  const { defaultModel } = shippedManifest();
  return (
    `the starter embedder knows words, not sentences, and finds less than ${defaultModel}; ` +
    `where there is a network: errata models pull ${defaultModel}, then errata models switch ${defaultModel}`
  );
}
