import { createModelSources } from '../adapters/model-sources/create-model-sources.js';
import type { ModelFiles } from '../cli/cli-deps.js';
import {
  installedModel,
  isIntact,
  listModels,
  modelDirectory,
  removeModel,
  verifyModel,
} from '../models/installed-models.js';
import { modelEntry } from '../models/manifest.js';
import { pullModel } from '../models/pull-model.js';

/** Model files as the command line sees them. */
export const modelFiles: ModelFiles = {
  async list(config) {
    const models = await listModels({ cacheDir: config.modelsDir });
    return models.map(({ entry, installed }) => ({
      name: entry.name,
      kind: 'embedding',
      installed,
      dimensions: entry.dimensions,
      sizeBytes: entry.files.reduce((sum, file) => sum + file.sizeBytes, 0),
      licence: entry.licence,
    }));
  },
  async pull(config, name, { from, onProgress, signal }) {
    const entry = modelEntry(name);
    const present = from === undefined && (await isIntact(modelDirectory(config.modelsDir, entry), entry));
    let source = present ? 'installed' : (from ?? '');
    const { directory } = await pullModel(name, {
      cacheDir: config.modelsDir,
      sources: createModelSources(),
      from,
      signal,
      onProgress: (progress) => {
        source = progress.source;
        onProgress?.({ done: progress.receivedBytes, total: progress.totalBytes });
      },
    });
    return { name, directory, source };
  },
  async verify(config, name) {
    const { entry, directory } = installedModel(name, { cacheDir: config.modelsDir });
    await verifyModel(directory, entry);
    return { files: entry.files.length };
  },
  remove: (config, name) => removeModel(name, { cacheDir: config.modelsDir }),
};
