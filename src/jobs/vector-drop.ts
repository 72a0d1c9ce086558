import { ErrataError } from '../domain/errors.js';
import { heldModels, type ModelChoice, SERVED_MODEL, type ServedModel } from '../domain/served-model.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/note-store.js';
import type { JobHandler } from './job-handler.js';
import { readServedModel } from './model-switch.js';

/** Notes a write. */
const BATCH = 500;

export interface VectorDropDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** The model that this process answers with. */
  readonly serving: () => ModelChoice;
}

/**
 * Frees the vectors of a model that the installation answered with before, once nobody wants to go back to it: first the setting no
 * longer names it, so that a rollback is refused rather than slow, then its vectors go. A killed run goes on by being repeated.
 *
 * Errors: `INVALID_INPUT` for the model that serves, here or by the setting, and for one that left no vectors.
 */
export function vectorDropHandler({ store, clock, serving }: VectorDropDeps): JobHandler {
  return async ({ job, checkpoint }) => {
    const served = await readServedModel(store);
    const asked = job.options.model ?? '';
    const inUse = [serving(), ...(served === undefined ? [] : [served])];
    if (inUse.some(({ name, modelId }) => asked === name || asked === modelId)) {
      throw refused('a model that does not serve', 'the one that does; switch to another first');
    }
    // By its id also after a run that was killed, which the setting no longer names.
    const held = job.cursor ?? modelNamed(served, asked)?.modelId;
    if (served === undefined || held === undefined) {
      throw refused('a model whose vectors are kept', 'another');
    }
    await checkpoint({ cursor: held, message: `dropping the vectors of ${asked}` });
    await forget(store, served, held);
    await store.audit.append({
      id: `vectors-dropped:${job.id}`,
      at: clock.now(),
      actor: `job:${job.kind}`,
      origin: { via: 'JOB' as const },
      action: 'vectors-dropped',
      changes: [`model: ${held}`],
    });
    let done = job.done;
    for (;;) {
      const dropped = await store.notes.dropVectors(held, BATCH);
      if (dropped === 0) return `vectors of ${done} notes dropped`;
      done += dropped;
      await checkpoint({ done });
    }
  };
}

function modelNamed(served: ServedModel | undefined, asked: string): ModelChoice | undefined {
  return served && heldModels(served).find(({ name, modelId }) => asked === name || asked === modelId);
}

async function forget(store: Store, served: ServedModel, modelId: string): Promise<void> {
  const { previous, earlier = [], ...rest } = served;
  const kept: ServedModel = {
    ...rest,
    ...(previous !== undefined && previous.modelId !== modelId && { previous }),
    earlier: earlier.filter((held) => held.modelId !== modelId),
  };
  await store.settings.put(SERVED_MODEL, JSON.stringify(kept));
}

function refused(expected: string, received: string): ErrataError {
  return new ErrataError('INVALID_INPUT', `Expected ${expected} for VECTOR_DROP, received ${received}`, {
    details: { field: 'model' },
  });
}
