import type { Config } from '../config/config.js';
import { readServedModel } from '../jobs/model-switch.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';

/** The model that the installation was switched to, else the one of the configuration. */
export async function servedModelName(
  store: Pick<Store, 'settings'>,
  { embedder }: Pick<Config, 'embedder'>,
  logger: Logger,
): Promise<string> {
  const served = await readServedModel(store);
  if (served !== undefined && served.name !== embedder) {
    logger.info(
      { configured: embedder, served: served.name },
      'the installation was switched to another model',
    );
  }
  return served?.name ?? embedder;
}
