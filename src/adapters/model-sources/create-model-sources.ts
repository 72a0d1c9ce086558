import type { ModelSources } from '../../models/model-source.js';
import { createDirectorySource } from './directory-source.js';
import { createHuggingFaceSource, type HuggingFaceOptions } from './hugging-face-source.js';
import { createMavenSource, type MavenOptions } from './maven-source.js';

export interface ModelSourceOptions {
  readonly huggingFace?: HuggingFaceOptions | undefined;
  readonly maven?: MavenOptions | undefined;
}

/** Every kind of source that models.json can name. */
export function createModelSources(options: ModelSourceOptions = {}): ModelSources {
  return {
    huggingface: createHuggingFaceSource(options.huggingFace),
    maven: createMavenSource(options.maven),
    directory: createDirectorySource(),
  };
}
