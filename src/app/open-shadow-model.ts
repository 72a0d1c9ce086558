import { ErrataError } from '../domain/errors.js';
import type { ShadowModel } from '../jobs/model-switch.js';
import type { Engines } from './installation.js';
import { createModelGeneration, type ModelGeneration, type SharedParts } from './model-generation.js';

/** Opens a model beside the one that serves; its index is filled when it is asked for. Errors: those of `openEngines`. */
export async function openShadowModel(
  shared: SharedParts,
  openEngines: ((name: string) => Promise<Engines>) | undefined,
  name: string,
): Promise<ShadowModel> {
  if (openEngines === undefined) {
    throw new ErrataError('MODEL_UNAVAILABLE', 'Expected a process that loads models, received one without');
  }
  // The snapshot is the serving model's.
  const engines: Engines = { ...(await openEngines(name)), snapshots: undefined };
  let generation: ModelGeneration | undefined;
  return {
    embedder: engines.embedder,
    async openIndex() {
      generation ??= await createModelGeneration({ ...shared, writeSnapshots: false }, engines, undefined);
      return generation.measured;
    },
    async closeIndex() {
      await generation?.close();
      generation = undefined;
      await engines.vectorIndex.clear();
      await engines.lexicalIndex.clear();
    },
    async close() {
      await generation?.close();
      await engines.close();
    },
  };
}
