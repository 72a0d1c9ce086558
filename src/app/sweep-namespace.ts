import { createNativeVectorIndex, DEFAULT_EF_SEARCH } from '../adapters/native/native-vector-index.js';
import type { Caller } from '../domain/api-key.js';
import type { GoldenSet } from '../evaluation/golden-set.js';
import { savedGoldenSet } from '../evaluation/golden-versions.js';
import { runSweep, type SweepReport } from '../evaluation/sweep/run-sweep.js';
import { sweepVariants, type VariantGroup } from '../evaluation/sweep/variants.js';
import type { Store } from '../ports/note-store.js';
import type { VectorIndex } from '../ports/vector-index.js';
import type { RetrieveDeps } from '../retrieval/retrieve.js';

const PAGE = 1_000;

export interface SweepOfNamespace {
  readonly caller: Caller;
  readonly namespace: string;
  readonly golden: GoldenSet;
  /** Handles of the golden set to note ids. */
  readonly resolve: (key: string) => string | undefined;
  /** None: all. `efSearch` alone needs a second index over the namespace's notes. */
  readonly groups?: readonly VariantGroup[] | undefined;
  readonly onProgress?: ((done: number, total: number) => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Tries stages and settings on a golden set. Leaves no receipts and no retrieval counts: nobody asked these questions. */
export async function sweepNamespace(live: RetrieveDeps, sweep: SweepOfNamespace): Promise<SweepReport> {
  const { namespace, groups, caller, golden, resolve, onProgress, signal } = sweep;
  const deps = withoutTraces(live);
  const graph =
    groups === undefined || groups.includes('efSearch')
      ? createNativeVectorIndex({ dimensions: live.embedder.model.dimensions, graphThreshold: 1 })
      : undefined;
  try {
    if (graph !== undefined) await copyNotes(live.store, namespace, graph);
    const variants = sweepVariants(
      deps,
      graph === undefined ? undefined : { index: graph, efSearch: DEFAULT_EF_SEARCH },
    ).filter(({ group }) => groups === undefined || groups.includes(group));
    return await runSweep(variants, { caller, namespace, golden, resolve, onProgress, signal });
  } finally {
    await graph?.close();
  }
}

/** The same on the namespace's saved golden set, which names notes by id. Errors: `INVALID_INPUT` where none is saved. */
export async function sweepSaved(
  live: RetrieveDeps,
  request: Omit<SweepOfNamespace, 'golden' | 'resolve'>,
): Promise<SweepReport> {
  const golden = await savedGoldenSet(live.store.settings, request.namespace);
  return sweepNamespace(live, { ...request, golden, resolve: (key) => key });
}

function withoutTraces(deps: RetrieveDeps): RetrieveDeps {
  const { receipts } = deps.store;
  return {
    ...deps,
    withholdShare: 0,
    outcomes: { countRetrieved: () => undefined },
    store: {
      ...deps.store,
      receipts: {
        put: async () => undefined,
        get: (id) => receipts.get(id),
        listByNote: (namespace, noteId, limit) => receipts.listByNote(namespace, noteId, limit),
        listByTime: (namespace, time, limit) => receipts.listByTime(namespace, time, limit),
        prune: (before) => receipts.prune(before),
      },
    },
  };
}

async function copyNotes(store: Store, namespace: string, index: VectorIndex): Promise<void> {
  let after: string | undefined;
  for (;;) {
    const page = await store.notes.scanActive(after, PAGE);
    for (const { note, vectors } of page) {
      if (vectors === undefined || note.namespace !== namespace) continue;
      const { lesson, situation } = vectors;
      await index.upsert([
        { ...note, vectors: situation === undefined ? { lesson } : { lesson, situation } },
      ]);
    }
    after = page.at(-1)?.note.id;
    if (page.length < PAGE) return;
  }
}
