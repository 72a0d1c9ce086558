import type { Config } from '../config/config.js';
import { isErrataError } from '../domain/errors.js';
import { SERVED_MODEL, type ServedModel } from '../domain/served-model.js';
import { readServedModel } from '../jobs/model-switch.js';
import { shippedManifest } from '../models/manifest.js';
import { findModel } from '../models/model-directory.js';
import { embeddingModelId } from '../models/model-id.js';
import { systemClock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';
import { STARTER } from './open-local-embedder.js';
import { servedModelName } from './served-model-name.js';

export interface FirstModelDeps {
  readonly store: Pick<Store, 'settings' | 'notes'>;
  readonly config: Config;
  readonly logger: Logger;
  /** Installs a model from its sources. Errors: `MODEL_UNAVAILABLE`, where none of them gives it. */
  readonly pull: (name: string) => Promise<unknown>;
}

/**
 * The model that a server begins with: what the installation answers with already, else that of the settings. Where that is the
 * default, is not installed and cannot be pulled, and the store holds nothing yet, it is the starter embedder. That choice is
 * written down as a switch would be, so that no later start mixes two models: `errata models switch` changes it.
 *
 * Errors: the pull's other than `MODEL_UNAVAILABLE`.
 */
export async function firstModelName({ store, config, logger, pull }: FirstModelDeps): Promise<string> {
  const name = await servedModelName(store, config, logger);
  if (name !== shippedManifest().defaultModel || (await isInstalled(name, config))) return name;
  // From here on the first pull of a new installation is wanted; one that has notes waits for its own model.
  if ((await readServedModel(store)) !== undefined || (await store.notes.count('all', {})) > 0) return name;
  try {
    await pull(name);
    return name;
  } catch (error) {
    if (!isErrataError(error, 'MODEL_UNAVAILABLE')) throw error;
    logger.warn({ error }, `${name} could not be pulled: this installation begins with the starter embedder`);
  }
  const { entry } = await findModel(STARTER, { cacheDir: config.modelsDir });
  const modelId = entry.task === 'embedding' ? embeddingModelId(entry) : entry.name;
  const choice: ServedModel = { name: STARTER, modelId, switchedAt: systemClock.now() };
  // Of two processes that start at once, the first one's choice stands for both.
  const stands = await store.settings.putIfAbsent(SERVED_MODEL, JSON.stringify(choice));
  return (JSON.parse(stands) as ServedModel).name;
}

async function isInstalled(name: string, config: Config): Promise<boolean> {
  try {
    await findModel(name, { cacheDir: config.modelsDir });
    return true;
  } catch (error) {
    if (isErrataError(error, 'MODEL_NOT_INSTALLED')) return false;
    throw error;
  }
}
