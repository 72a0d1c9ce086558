import { parseHostedName } from '../adapters/hosted/hosted-shapes.js';
import { createProxyFetch } from '../adapters/http/proxy-fetch.js';
import { createModelSources } from '../adapters/model-sources/create-model-sources.js';
import type { ModelFiles, ModelStatus } from '../cli/cli-deps.js';
import type { Config } from '../config/config.js';
import {
  isIntact,
  type ListedModel,
  listModels,
  modelDirectory,
  removeModel,
  resolvedModel,
  verifyModel,
} from '../models/installed-models.js';
import { knownModel } from '../models/manifest.js';
import { findModel, isDirectoryName } from '../models/model-directory.js';
import { pullModel } from '../models/pull-model.js';

function toStatus({ entry, installed }: ListedModel): ModelStatus {
  const sizes = entry.files.map(({ sizeBytes }) => sizeBytes);
  return {
    name: entry.name,
    kind: entry.task,
    installed,
    precision: entry.precision,
    digests: entry.files.every(({ sha256 }) => sha256 !== undefined) ? 'pinned' : 'at first pull',
    dimensions: entry.task === 'embedding' ? entry.dimensions : undefined,
    sizeBytes: sizes.reduce(
      (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    ),
    licence: entry.licence,
  };
}

function sourcesOf(config: Config) {
  const fetch = createProxyFetch(config.proxies);
  return createModelSources({ huggingFace: { baseUrl: config.hubUrl, fetch } });
}

/** Model files as the command line sees them. */
export const modelFiles: ModelFiles = {
  async list(config) {
    const models = await listModels({ cacheDir: config.modelsDir });
    return models.map(toStatus);
  },
  async pull(config, name, { from, onProgress, signal }) {
    const cacheDir = config.modelsDir;
    if (parseHostedName(name) !== undefined)
      return { name, directory: 'no folder', source: 'hosted, nothing to fetch' };
    if (isDirectoryName(name)) {
      const { directory } = await findModel(name, { cacheDir });
      return { name, directory, source: 'a folder, nothing to fetch' };
    }
    const resolved = from === undefined ? resolvedModel(knownModel(name), cacheDir) : undefined;
    const present = resolved !== undefined && (await isIntact(modelDirectory(cacheDir, resolved), resolved));
    let source = present ? 'installed' : (from ?? 'files of other models');
    const { directory } = await pullModel(name, {
      cacheDir,
      sources: sourcesOf(config),
      from,
      offline: config.offline,
      signal,
      onProgress: (progress) => {
        source = progress.source;
        onProgress?.({ done: progress.receivedBytes, total: progress.totalBytes });
      },
    });
    return { name, directory, source };
  },
  async verify(config, name) {
    if (parseHostedName(name) !== undefined) return { files: 0 };
    const { entry, directory } = await findModel(name, { cacheDir: config.modelsDir });
    await verifyModel(directory, entry);
    return { files: entry.files.length };
  },
  remove: (config, name) => removeModel(name, { cacheDir: config.modelsDir }),
};
