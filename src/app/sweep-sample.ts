import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { SweepNamespaceRequest, SweepRequest, SweepResult } from '../cli/cli-deps.js';
import { checkNamespace } from '../domain/validate-correction.js';
import { parseGoldenSet } from '../evaluation/golden-set.js';
import { savedGoldenSet } from '../evaluation/golden-versions.js';
import { renderSweepMarkdown, renderSweepPlots, renderSweepText } from '../evaluation/sweep/render-sweep.js';
import { renderSweepHtml } from '../evaluation/sweep/render-sweep-html.js';
import type { SweepReport } from '../evaluation/sweep/run-sweep.js';
import { recordSweep } from '../evaluation/sweep/sweep-runs.js';
import type { Store } from '../ports/note-store.js';
import type { App } from './create-app.js';
import { EVALUATOR, withSample } from './evaluate-sample.js';
import { SAMPLE_NAMESPACE, sampleGoldenSet } from './load-sample.js';
import { sweepNamespace } from './sweep-namespace.js';

/** Loads notes into a throw-away store and tries stages and settings on the golden queries. */
export async function sweepSample(request: SweepRequest): Promise<SweepResult> {
  const { config, notes, golden, groups, onProgress, signal } = request;
  const set = sampleGoldenSet(golden);
  return withSample(config, notes, onProgress, async ({ app, sample }) =>
    toResult(
      await sweepNamespace(app.retrieveDeps, {
        ...{ caller: EVALUATOR, namespace: SAMPLE_NAMESPACE, golden: set, groups, signal },
        resolve: (key) => sample.ids.get(key),
        onProgress: (done, total) => onProgress?.({ done, total }),
      }),
    ),
  );
}

/** The same over the installation's own notes; the sweep enters the namespace's history. Errors: `INVALID_INPUT`, `INVALID_FILE`. */
export async function sweepOwn(
  { app, store }: { readonly app: App; readonly store: Store },
  request: SweepNamespaceRequest,
): Promise<SweepResult> {
  const { golden, groups, onProgress, signal } = request;
  const namespace = checkNamespace(request.namespace);
  const set =
    golden === undefined
      ? await savedGoldenSet(store.settings, namespace)
      : parseGoldenSet(await readFile(golden, 'utf8'), basename(golden));
  const report = await sweepNamespace(app.retrieveDeps, {
    ...{ caller: EVALUATOR, namespace, golden: set, groups, signal },
    resolve: (key) => key,
    onProgress: (done, total) => onProgress?.({ done, total }),
  });
  await recordSweep(store.settings, namespace, report);
  return toResult(report);
}

function toResult(report: SweepReport): SweepResult {
  return {
    report,
    lines: renderSweepText(report),
    documents: {
      'sweep.json': `${JSON.stringify(report, undefined, 2)}\n`,
      'sweep.md': renderSweepMarkdown(report),
      'sweep.html': renderSweepHtml(report),
      ...renderSweepPlots(report),
    },
  };
}
