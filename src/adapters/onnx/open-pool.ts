import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ErrataError } from '../../domain/errors.js';
import type { ExecutionProvider } from '../../domain/inference.js';
import { fileOfRole } from '../../models/manifest.js';
import type { ModelEntry } from '../../models/manifest-schema.js';
import type { BatchKind, LocalRuntime } from '../../ports/model-runtime.js';
import type { GraphUse, InferenceInput, InferenceTask } from './embed-protocol.js';
import { OptimisedGraph } from './optimised-graph.js';
import { type RuntimeNotes, readRuntimeNotes, writeRuntimeNotes } from './runtime-notes.js';
import { givenLayout, measureLayout, type SessionLayout, separate, shared } from './session-layout.js';
import { WorkerPool, type WorkerPoolOptions } from './worker-pool.js';
import { workerEntry } from './worker-thread.js';

/** What opening an embedder and a reranker have in common. */
export interface OnnxOptions<Entry extends ModelEntry> {
  /** Directory of an installed model. */
  readonly modelDir: string;
  readonly manifestEntry: Entry;
  /** Threads for inference, in one session each or all in one. Default: available cores, at most 4. */
  readonly workers?: number | undefined;
  /** Sets the layout: so many threads in each of `workers` sessions. Default: one, or what is measured with `runtimeDir`. */
  readonly threadsPerWorker?: number | undefined;
  /** Tried in order. Default: the processor only. */
  readonly providers?: readonly ExecutionProvider[] | undefined;
  /** Where optimised graphs and measurements are kept for the next start; none: nothing is kept and no layout measured. */
  readonly runtimeDir?: string | undefined;
  /** Told when a worker has crashed or could not start while others go on: one line for the log. */
  readonly onWarning?: ((error: ErrataError) => void) | undefined;
  /** Another worker entry: for bundlers, and for tests that break a worker. */
  readonly workerEntry?: URL | undefined;
}

export interface OpenedPool {
  readonly pool: WorkerPool;
  readonly runtime: LocalRuntime;
}

type Listeners = Pick<WorkerPoolOptions, 'checkCanary' | 'onIdle' | 'onDead'>;

const MAX_DEFAULT_WORKERS = 4;
const CPU_ONLY: readonly ExecutionProvider[] = ['cpu'];

export function positive(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new ErrataError('INVALID_INPUT', `Expected a positive integer for ${name}, received ${value}`);
}

/**
 * Opens a model's sessions: on the first execution provider that takes it, with the graph that an earlier start optimised, in the
 * layout that was measured as faster. `canary` makes an input, `probe` finds out which texts may share a run.
 *
 * Errors: `MODEL_UNAVAILABLE`, `INVALID_VECTOR`, `INVALID_INPUT`.
 */
export async function openPool(
  options: OnnxOptions<ModelEntry>,
  parts: Listeners & {
    readonly task: InferenceTask;
    readonly canary: () => InferenceInput;
    readonly probe: (pool: WorkerPool) => Promise<BatchKind>;
  },
): Promise<OpenedPool> {
  const { manifestEntry: entry, runtimeDir, onWarning = () => {} } = options;
  const threads = positive(
    'workers',
    options.workers ?? Math.min(availableParallelism(), MAX_DEFAULT_WORKERS),
  );
  const perSession = options.threadsPerWorker;
  const configured =
    perSession === undefined
      ? undefined
      : { sessions: threads, threadsPerSession: positive('threadsPerWorker', perSession) };
  const warn = (what: string) => (cause: unknown) => {
    onWarning(new ErrataError('MODEL_UNAVAILABLE', `Expected ${what}, received an error`, { cause }));
    return undefined;
  };

  const graph = runtimeDir === undefined ? undefined : OptimisedGraph.of(runtimeDir, entry);
  const optimised = await graph?.find();
  const target =
    optimised === undefined ? await graph?.target().catch(warn('a folder for optimised graphs')) : undefined;
  const notes = await readRuntimeNotes(runtimeDir, entry, threads);
  const noted = notes && layoutOf(notes);
  const fixed =
    configured ??
    noted ??
    givenLayout(threads, fileOfRole(entry, 'weights').sizeBytes) ??
    (runtimeDir === undefined ? separate(threads) : undefined);

  const makePool = ({ sessions, threadsPerSession }: SessionLayout, optimisedTarget?: string | undefined) =>
    new WorkerPool({
      entry: options.workerEntry ?? workerEntry(),
      data: {
        weightsPath: join(options.modelDir, fileOfRole(entry, 'weights').path),
        threads: threadsPerSession,
        providers: options.providers ?? CPU_ONLY,
        task: parts.task,
        canary: parts.canary(),
        optimised,
        optimisedTarget,
      },
      size: sessions,
      checkCanary: parts.checkCanary,
      onIdle: parts.onIdle,
      onDead: parts.onDead,
      onWarning,
    });

  let layout = fixed ?? separate(threads);
  let pool = makePool(layout, target);
  try {
    const { provider, refused, graph: graphUse } = await pool.start();
    await keepGraph(graph, graphUse, target).catch(warn('to keep the optimised graph'));
    let reason: LocalRuntime['layout'] =
      configured !== undefined || threads === 1 ? 'CONFIGURED' : noted !== undefined ? 'REMEMBERED' : 'SIZE';
    // A device takes one session, whose threads wait for it.
    if (provider !== 'cpu') layout = separate(1);
    else if (fixed === undefined) {
      const wide = makePool(shared(threads));
      try {
        await Promise.all([pool.settled(), wide.start()]);
        // A worker that could not start was reported; what is left is not compared.
        if (pool.idle === threads)
          layout = await measureLayout({ threads, separate: pool, shared: wide, input: parts.canary });
      } finally {
        if (layout.sessions > 1) await wide.close();
      }
      reason = 'MEASURED';
      if (layout.sessions === 1) {
        const loser = pool;
        pool = wide;
        await loser.close();
      }
    }
    const known = notes?.provider === provider ? notes.batches : undefined;
    const batches = known ?? (await parts.probe(pool));
    if (runtimeDir !== undefined && (known === undefined || reason === 'MEASURED')) {
      const measured = reason === 'MEASURED' || reason === 'REMEMBERED' ? layout : undefined;
      await writeRuntimeNotes(runtimeDir, entry, { provider, threads, ...measured, batches }).catch(
        warn('to keep what was measured'),
      );
    }
    const runtime = { provider, refused, ...layout, layout: reason, batches };
    return { pool, runtime: { ...runtime, graphRemembered: graphUse === 'REMEMBERED' } };
  } catch (error) {
    await pool.close();
    throw error;
  }
}

function layoutOf({ sessions, threadsPerSession }: RuntimeNotes): SessionLayout | undefined {
  return sessions === undefined || threadsPerSession === undefined
    ? undefined
    : { sessions, threadsPerSession };
}

async function keepGraph(
  graph: OptimisedGraph | undefined,
  use: GraphUse,
  target: string | undefined,
): Promise<void> {
  if (graph === undefined) return;
  if (use === 'WRITTEN' && target !== undefined) await graph.keep(target);
  // Whole by its digest, but not what this runtime reads: the next start makes it anew.
  else if (use === 'UNREADABLE') await graph.drop();
  else if (target !== undefined) await rm(target, { force: true });
}
