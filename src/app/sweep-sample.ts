import { createNativeVectorIndex, DEFAULT_EF_SEARCH } from '../adapters/native/native-vector-index.js';
import type { SweepRequest, SweepResult } from '../cli/cli-deps.js';
import { renderSweepMarkdown, renderSweepPlots, renderSweepText } from '../evaluation/sweep/render-sweep.js';
import { runSweep } from '../evaluation/sweep/run-sweep.js';
import { sweepVariants } from '../evaluation/sweep/variants.js';
import type { Store } from '../ports/note-store.js';
import type { VectorIndex } from '../ports/vector-index.js';
import { EVALUATOR, withSample } from './evaluate-sample.js';
import { SAMPLE_NAMESPACE, sampleGoldenSet } from './load-sample.js';

const PAGE = 1_000;

/** Loads notes into a throw-away store and tries stages and settings on the golden queries. */
export async function sweepSample(request: SweepRequest): Promise<SweepResult> {
  const { config, notes, golden, groups, onProgress, signal } = request;
  const set = sampleGoldenSet(golden);
  return withSample(config, notes, onProgress, async ({ app, engines, sample }) => {
    const graphIndex = createNativeVectorIndex({
      dimensions: engines.embedder.model.dimensions,
      graphThreshold: 1,
    });
    try {
      await copyNotes(app.retrieveDeps.store, graphIndex);
      const variants = sweepVariants(app.retrieveDeps, {
        index: graphIndex,
        efSearch: DEFAULT_EF_SEARCH,
      }).filter(({ group }) => groups === undefined || groups.includes(group));
      const report = await runSweep(variants, {
        caller: EVALUATOR,
        namespace: SAMPLE_NAMESPACE,
        golden: set,
        resolve: (key) => sample.ids.get(key),
        onProgress: (done, total) => onProgress?.({ done, total }),
        signal,
      });
      return {
        report,
        lines: renderSweepText(report),
        documents: {
          'sweep.json': `${JSON.stringify(report, undefined, 2)}\n`,
          'sweep.md': renderSweepMarkdown(report),
          ...renderSweepPlots(report),
        },
      };
    } finally {
      await graphIndex.close();
    }
  });
}

async function copyNotes(store: Store, index: VectorIndex): Promise<void> {
  let after: string | undefined;
  for (;;) {
    const page = await store.notes.scanActive(after, PAGE);
    for (const { note, vectors } of page) {
      if (vectors === undefined) continue;
      const { lesson, situation } = vectors;
      await index.upsert([
        { ...note, vectors: situation === undefined ? { lesson } : { lesson, situation } },
      ]);
    }
    after = page.at(-1)?.note.id;
    if (page.length < PAGE) return;
  }
}
