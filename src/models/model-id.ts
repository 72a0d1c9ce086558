import { createHash } from 'node:crypto';
import { fileOfRole } from './manifest.js';
import type { EmbeddingEntry, RerankingEntry } from './manifest-schema.js';

/**
 * `{name}@{12 hex}` over everything that changes a vector: vectors of two ids never meet in one index. 48 bits are
 * enough to tell the few models of one installation apart.
 */
export function embeddingModelId(entry: EmbeddingEntry): string {
  const { pooling, normalise, prefixes, maxTokens } = entry;
  const data = entry.files.filter(({ role }) => role === 'weights-data').map(({ sha256 }) => sha256);
  const parts = [
    fileOfRole(entry, 'weights').sha256,
    fileOfRole(entry, 'tokenizer').sha256,
    pooling,
    normalise,
    prefixes.query,
    prefixes.passage,
    maxTokens,
    // External weights; models without keep the ids that they had before these existed.
    ...data,
  ];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${entry.name}@${digest.slice(0, 12)}`;
}

/** `{name}@{12 hex}` over everything that changes a logit: calibrations and thresholds belong to one. */
export function rerankingModelId(entry: RerankingEntry): string {
  const parts = [...entry.files.map(({ sha256 }) => sha256), entry.logits, entry.maxTokens];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${entry.name}@${digest.slice(0, 12)}`;
}
