// What a submission costs beyond its embedding: validation, redaction, screening, near duplicates, store write, index.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { createSqliteStore } from '../../dist/adapters/sqlite/create-sqlite-store.js';
import { createApp } from '../../dist/app/create-app.js';
import { openEngines, readOrderClassifier } from '../../dist/app/installation.js';
import { parseConfig } from '../../dist/config/parse-config.js';
import { lessonText, situationText } from '../../dist/domain/note.js';
import { prepareCorrection } from '../../dist/notes/prepare-correction.js';
import { silentLogger } from '../../dist/ports/logger.js';
import { BENCH_CALLER } from '../fixtures/installation.mjs';
import { lessonOf } from '../fixtures/lessons.mjs';
import { fillStore, TASK_TYPE } from '../fixtures/notes.mjs';
import { figure, latencyMetric } from '../harness/measure.mjs';
import { promised } from '../harness/promises.mjs';

/** What the write path promises beyond the embedding, in ms at the median. */
const PROMISED_MS = 5;
const WARM_UP = 20;

const cases = ({ quick }) =>
  (quick ? [2_000] : [2_000, 20_000]).map((notes) => ({ name: `${notes}`, notes }));

/** The same embedder, with the vectors of texts that were embedded before: what is left is not its work. */
async function prepared(embedder, texts) {
  const start = performance.now();
  const embedded = await embedder.embed(texts, { kind: 'passage', priority: 'bulk' });
  const ms = (performance.now() - start) / texts.length;
  const known = new Map(texts.map((text, index) => [text, embedded[index]]));
  return {
    ms,
    embedder: {
      model: embedder.model,
      async embed(wanted, options) {
        const found = wanted.map((text) => known.get(text));
        return found.includes(undefined) ? embedder.embed(wanted, options) : found;
      },
      stats: () => embedder.stats(),
      close: () => embedder.close(),
    },
  };
}

/** Ordinary: no two say the same, and nothing in them is doubtful. */
const correctionOf = (index) => ({
  namespace: 'default',
  taskType: TASK_TYPE,
  wrongAnswer: `The checker reported case S${index} as a defect of the connection pool.`,
  correction: `It is intended; the pool closes it at the end of the request, see the note of case S${index}.`,
  lesson: `${lessonOf(index)} (case S${index})`,
  attributes: { repo: `repo-${index % 50}` },
  source: { kind: 'review', author: 'bench', record: `PR-${index}` },
});

async function run({ notes }, { quick, log }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'errata-bench-'));
  const config = parseConfig({ env: process.env, flags: { data: folder } });
  const store = await createSqliteStore({ path: path.join(folder, 'errata.sqlite') });
  const engines = await openEngines(config);
  let app;
  try {
    await fillStore(store, engines.embedder, notes);
    const calls = quick ? 100 : 300;
    const corrections = Array.from({ length: WARM_UP + calls }, (_, index) => correctionOf(notes + index));
    const texts = corrections.flatMap((one) => [lessonText(one), situationText(one)]);
    const { embedder, ms: embeddingMs } = await prepared(engines.embedder, texts);
    app = await createApp({ store, engines: { ...engines, embedder }, logger: silentLogger, runJobs: false });
    await engines.vectorIndex.settle();
    log(`${notes} notes stored and indexed`);
    const [wall, cpu, outcomes] = [[], [], new Map()];
    for (const [index, correction] of corrections.entries()) {
      const [start, used] = [performance.now(), process.cpuUsage()];
      const { outcome } = await app.useCases.commands.submit(BENCH_CALLER, correction);
      const { user, system } = process.cpuUsage(used);
      if (index < WARM_UP) continue;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      wall.push(performance.now() - start);
      cpu.push((user + system) / 1_000);
    }
    const classifier = readOrderClassifier();
    const prepare = [];
    for (let index = 0; index < calls; index += 1) {
      const start = performance.now();
      prepareCorrection({ now: '2026-01-01T00:00:00.000Z', classifier }, BENCH_CALLER, correctionOf(index));
      prepare.push(performance.now() - start);
    }
    const [load] = loadavg();
    const busy = load > availableParallelism();
    const metric = (name, times) =>
      latencyMetric(name, { times, seconds: times.reduce((sum, ms) => sum + ms, 0) / 1_000 });
    const metrics = [
      metric('submit beyond its embedding', wall),
      metric('the same, processor time', cpu),
      metric('of it: validate, redact, screen', prepare),
      figure('embedding of lesson and situation', 'ms', 'lower', 2 * embeddingMs),
    ];
    const stored = await store.notes.count(['default'], { author: 'bench' });
    const told = [...outcomes].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
    const held = (outcomes.get('QUARANTINED') ?? 0) + (outcomes.get('REFUSED') ?? 0);
    return {
      setup: `${notes} notes, SQLite; one submission after another; ${told}`,
      metrics,
      checks: [
        { what: 'every submission is stored', ok: stored === WARM_UP + calls, value: stored },
        { what: 'no ordinary submission is held back', ok: held === 0, value: held },
        promised({
          what: `at most ${PROMISED_MS} ms of processor time beyond its embedding (median)`,
          ok: metrics[1].value <= PROMISED_MS,
          value: metrics[1].value,
        }),
        promised({
          what: `at most ${PROMISED_MS} ms beyond its embedding (median)`,
          ...(busy
            ? { value: `${metrics[0].value}; others kept the machine busy (load ${load.toFixed(1)})` }
            : { ok: metrics[0].value <= PROMISED_MS, value: metrics[0].value }),
        }),
      ],
    };
  } finally {
    await app?.close();
    await engines.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const suite = { name: 'submit', title: 'what a submission costs beyond its embedding', cases, run };
