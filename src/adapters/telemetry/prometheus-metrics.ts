import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ServiceUsage } from '../../ports/model-runtime.js';
import type {
  JobWatcher,
  LiveFigures,
  MetricsPage,
  RetrievalWatcher,
  WaitingNotes,
} from '../../ports/telemetry.js';

/** Seconds. From a cached answer to one that waited. */
const TIME_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const RECALL_BUCKETS = [0.5, 0.8, 0.9, 0.95, 0.99, 1];

export interface PrometheusMetrics extends RetrievalWatcher, JobWatcher, MetricsPage {}

/** Counts answers and reads figures at each scrape. Labels hold no namespace, no task type and no text. */
export function createPrometheusMetrics(figures: () => LiveFigures): PrometheusMetrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });
  const retrievals = new Counter({
    name: 'errata_retrievals_total',
    help: 'Answers, by outcome: answered, abstained, or failed with its code.',
    labelNames: ['outcome', 'code'],
    registers,
  });
  const degraded = new Counter({
    name: 'errata_degraded_retrievals_total',
    help: 'Answers that a stage could not take part in.',
    labelNames: ['stage'],
    registers,
  });
  const truncated = new Counter({
    name: 'errata_truncated_queries_total',
    help: 'Queries longer than the embedding model reads.',
    registers,
  });
  const injected = new Counter({
    name: 'errata_injected_notes_total',
    help: 'Notes in answers.',
    registers,
  });
  const seconds = new Histogram({
    name: 'errata_retrieval_seconds',
    help: 'Time of an answer.',
    buckets: TIME_BUCKETS,
    registers,
  });
  const stageSeconds = new Histogram({
    name: 'errata_stage_seconds',
    help: 'Time of a stage of an answer.',
    labelNames: ['stage'],
    buckets: TIME_BUCKETS,
    registers,
  });
  const recall = new Histogram({
    name: 'errata_live_recall',
    help: 'Share of the exact best 20 candidates that the index found, of sampled answers.',
    buckets: RECALL_BUCKETS,
    registers,
  });
  const jobs = new Counter({
    name: 'errata_jobs_total',
    help: 'Jobs that ended in this process, by kind and state; code says why one failed, JOB_GIVEN_UP that it took processes down.',
    labelNames: ['kind', 'state', 'code'],
    registers,
  });
  addFigures(registers, figures);
  addQueue(registers, figures);
  addMemory(registers, figures);
  addUsage(registers, figures);
  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    answered({ retrieval, tookMs }) {
      retrievals.inc({ outcome: retrieval.abstained ? 'abstained' : 'answered', code: '' });
      injected.inc(retrieval.notes.length);
      if (retrieval.truncated) truncated.inc();
      for (const why of retrieval.degraded) degraded.inc({ stage: why.split(':', 1)[0] ?? '' });
      seconds.observe(tookMs / 1_000);
      for (const { name, ms } of retrieval.stages) stageSeconds.observe({ stage: name }, ms / 1_000);
    },
    failed({ code, tookMs }) {
      retrievals.inc({ outcome: 'failed', code });
      seconds.observe(tookMs / 1_000);
    },
    jobEnded: ({ kind, state, code }) => jobs.inc({ kind, state, code }),
    liveRecall: (value) => recall.observe(value),
  };
}

/** Read at a scrape. A figure that is not known yet is left out. */
function addFigures(registers: Registry[], figures: () => LiveFigures): void {
  const gauges: readonly (readonly [string, string, (live: LiveFigures) => number | undefined])[] = [
    [
      'errata_query_cache_hits',
      'Query embeddings out of the cache since the start.',
      (live) => live.cacheHits,
    ],
    ['errata_query_cache_misses', 'Query embeddings that were computed.', (live) => live.cacheMisses],
    ['errata_embedded_texts', 'Texts that were embedded since the start.', (live) => live.embeddedTexts],
    [
      'errata_truncated_texts',
      'Texts of any kind that were cut off for the model.',
      (live) => live.truncatedTexts,
    ],
    ['errata_indexed_notes', 'Notes in the vector index.', (live) => live.indexedNotes],
    ['errata_index_bytes', 'Memory of the vector index.', (live) => live.indexBytes],
    ['errata_active_notes', 'Active notes in the store.', (live) => live.activeNotes],
    ['errata_never_used_notes', 'Active notes that no answer ever held.', (live) => live.neverUsedNotes],
  ];
  addGauges(registers, gauges, figures);
}

/** A source that has nothing yet, or a figure that is not known, leaves the series out. */
function addGauges<Source>(
  registers: Registry[],
  gauges: readonly (readonly [name: string, help: string, read: (source: Source) => number | undefined])[],
  sourceOf: () => Source | undefined,
): void {
  for (const [name, help, read] of gauges) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const source = sourceOf();
        const value = source === undefined ? undefined : read(source);
        // Not `reset`, which says 0.
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }
}

/** Age by the scrape's own time, so that it grows while nobody counts. */
function addQueue(registers: Registry[], figures: () => LiveFigures): void {
  new Gauge({
    name: 'errata_review_waiting_notes',
    help: 'Notes in the review queue.',
    labelNames: ['status'],
    registers,
    collect() {
      const { waiting } = figures();
      if (waiting === undefined) return;
      this.set({ status: 'PENDING' }, waiting.pending);
      this.set({ status: 'QUARANTINED' }, waiting.quarantined);
    },
  });
  const gauges: readonly (readonly [string, string, (waiting: WaitingNotes) => number])[] = [
    ['errata_review_overdue_notes', 'Waiting notes past their due time.', ({ overdue }) => overdue],
    [
      'errata_review_oldest_seconds',
      'How long the note that waits longest has waited; 0 where none waits.',
      ({ oldestOpenedAt }) =>
        oldestOpenedAt === undefined ? 0 : Math.max(0, (Date.now() - Date.parse(oldestOpenedAt)) / 1_000),
    ],
  ];
  addGauges(registers, gauges, () => figures().waiting);
}

function addMemory(registers: Registry[], figures: () => LiveFigures): void {
  new Gauge({
    name: 'errata_memory_bytes',
    help: 'Memory by what holds it, by its own count; the model runtime is not among it.',
    labelNames: ['part'],
    registers,
    collect() {
      this.reset();
      for (const [part, bytes] of Object.entries(figures().memory)) this.set({ part }, bytes);
    },
  });
}

/** What hosted models were asked for; no series for local ones. The model's id is a label: two serve one after the other at a switch. */
function addUsage(registers: Registry[], figures: () => LiveFigures): void {
  const gauges: readonly (readonly [string, string, keyof ServiceUsage])[] = [
    ['errata_hosted_requests', 'Requests to hosted models since the start.', 'requests'],
    ['errata_hosted_retries', 'Attempts beyond the first of a request.', 'retries'],
    ['errata_hosted_failures', 'Requests to hosted models that failed after all attempts.', 'failures'],
    ['errata_hosted_billed_units', 'What hosted models bill: tokens, or search units.', 'billedUnits'],
  ];
  for (const [name, help, key] of gauges) {
    new Gauge({
      name,
      help,
      labelNames: ['role', 'model'],
      registers,
      collect() {
        this.reset();
        for (const { role, id, usage } of figures().models)
          if (usage !== undefined) this.set({ role: role.toLowerCase(), model: id }, usage[key]);
      },
    });
  }
}
