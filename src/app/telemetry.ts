import type { Config } from '../config/config.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';
import type { JobWatcher, MetricsPage, RetrievalWatcher } from '../ports/telemetry.js';
import type { Engines } from './installation.js';

export interface Telemetry {
  readonly watchers: readonly RetrievalWatcher[];
  readonly jobWatchers: readonly JobWatcher[];
  readonly metrics?: MetricsPage | undefined;
  readonly within?:
    | ((headers: Record<string, string | string[] | undefined>, work: () => void) => void)
    | undefined;
  close(): Promise<void>;
}

export const NO_TELEMETRY: Telemetry = { watchers: [], jobWatchers: [], close: async () => undefined };

/** What the configuration asks for. The libraries are loaded only then. */
export async function openTelemetry(
  config: Pick<Config, 'metrics' | 'tracesUrl'>,
  parts: {
    readonly store: Store;
    /** What answers at the moment: the model may be changed while the process runs. */
    readonly serving: () => Engines;
    readonly logger: Logger;
    readonly version: string;
  },
): Promise<Telemetry> {
  const { store, serving, logger, version } = parts;
  if (!config.metrics && config.tracesUrl === undefined) return NO_TELEMETRY;
  const watchers: RetrievalWatcher[] = [];
  const jobWatchers: JobWatcher[] = [];
  const closers: (() => Promise<void>)[] = [];
  let metrics: MetricsPage | undefined;
  let within: Telemetry['within'];
  if (config.metrics) {
    const { createLiveFigures } = await import('./live-figures.js');
    const { createPrometheusMetrics } = await import('../adapters/telemetry/prometheus-metrics.js');
    const figures = createLiveFigures(store, serving, logger);
    const prometheus = createPrometheusMetrics(() => figures.read());
    watchers.push(prometheus);
    jobWatchers.push(prometheus);
    metrics = prometheus;
    closers.push(() => figures.close());
  }
  if (config.tracesUrl !== undefined) {
    const { createOtlpTraces } = await import('../adapters/telemetry/otlp-traces.js');
    const traces = createOtlpTraces({ url: config.tracesUrl, version });
    watchers.push(traces);
    within = (headers, work) => traces.within(headers, work);
    closers.push(() =>
      traces.close().catch((error: unknown) => logger.warn({ error }, 'the last spans could not be sent')),
    );
  }
  return {
    watchers,
    jobWatchers,
    metrics,
    within,
    async close() {
      for (const close of closers.reverse()) await close();
    },
  };
}
