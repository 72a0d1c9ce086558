import { readFile } from 'node:fs/promises';
import type { GuardReport, GuardReportRequest } from '../cli/cli-deps.js';
import { type LabelledPair, parseLabelledPairs, reportDuplicates } from '../evaluation/duplicates-report.js';
import type { GuardFigures } from '../evaluation/guards/guard-measures.js';
import { measureGuards } from '../evaluation/guards/measure-guards.js';
import { parseScreenedTexts, reportInjection } from '../evaluation/injection-report.js';
import { parseLabelledSecrets } from '../evaluation/labelled-secrets.js';
import type { LabelledSet } from '../evaluation/labelled-set.js';
import { renderDuplicatesReport } from '../evaluation/render-duplicates-report.js';
import { renderInjectionReport, renderSecretsReport } from '../evaluation/render-guard-report.js';
import { reportSecrets } from '../evaluation/secrets-report.js';
import type { Embedder } from '../ports/embedder.js';
import { openEngines, readFittedScore, readOrderClassifier } from './installation.js';

/** Labelled sets of the project, by the name of the report. */
const SETS = {
  duplicates: new URL('../../sample/guard/duplicates.jsonl', import.meta.url),
  injection: new URL('../../sample/guard/injection.jsonl', import.meta.url),
  secrets: new URL('../../sample/guard/secrets.jsonl', import.meta.url),
} as const;

/** The project's own pairs of lessons. */
export async function labelledPairs(): Promise<LabelledSet<LabelledPair>> {
  return parseLabelledPairs(await readFile(SETS.duplicates, 'utf8'), 'duplicates.jsonl');
}

/** The guards as they are installed, on the project's own labelled sets; two to six seconds. Errors: the embedder's. */
export async function measureInstalledGuards(embedder: Embedder): Promise<GuardFigures> {
  const read = (name: keyof typeof SETS) => readFile(SETS[name], 'utf8');
  const sets = {
    injection: parseScreenedTexts(await read('injection'), 'injection.jsonl'),
    secrets: parseLabelledSecrets(await read('secrets'), 'secrets.jsonl'),
    duplicates: await labelledPairs(),
  };
  const { id, name } = embedder.model;
  const fitted = readFittedScore(name);
  const similarities = fitted?.embeddingModel === id ? fitted.nearDuplicates : undefined;
  return measureGuards(sets, { embedder, similarities, classifier: readOrderClassifier() });
}

/** Judges a labelled set with the guards as they are. Errors: `INVALID_FILE`; for duplicates the model's. */
export async function guardReport(request: GuardReportRequest): Promise<GuardReport> {
  const file = request.set ?? SETS[request.report];
  const jsonl = await readFile(file, 'utf8');
  const name = `${request.report}.jsonl`;
  switch (request.report) {
    case 'duplicates': {
      const pairs = parseLabelledPairs(jsonl, name);
      const engines = await openEngines(request.config);
      try {
        const report = await reportDuplicates(pairs, engines.embedder, engines.similarities);
        return { report, text: renderDuplicatesReport(report) };
      } finally {
        await engines.close();
      }
    }
    case 'injection': {
      const report = reportInjection(parseScreenedTexts(jsonl, name), readOrderClassifier());
      return { report, text: renderInjectionReport(report) };
    }
    case 'secrets': {
      const report = reportSecrets(parseLabelledSecrets(jsonl, name));
      return { report, text: renderSecretsReport(report) };
    }
  }
}
