import { randomBytes } from 'node:crypto';
import { createPinoLogger } from '../adapters/logging/pino-logger.js';
import type { Progress, RunningServer, ServeOptions } from '../cli/cli-deps.js';
import type { Config } from '../config/config.js';
import type { GoldenQuery } from '../evaluation/golden-set.js';
import { createGraphqlServer } from '../graphql/create-graphql-server.js';
import { GRAPHQL_SERVER_DEFAULTS } from '../graphql/server-config.js';
import { ensureAdminKey } from '../guard/key-commands.js';
import { scheduleSweeps } from '../jobs/sweep-schedule.js';
import { systemClock } from '../ports/clock.js';
import type { Store } from '../ports/note-store.js';
import { checkerOf } from './checker-of.js';
import { type App, createApp } from './create-app.js';
import { firstModelName } from './first-model.js';
import { type Engines, openEngines, openStore } from './installation.js';
import { loadSample, SAMPLE_NAMESPACE, SAMPLER, sampleGoldenSet } from './load-sample.js';
import { modelFiles } from './model-files.js';
import { openCipher } from './open-cipher.js';
import { openTelemetry } from './telemetry.js';

const CURSOR_SECRET = 'cursor-secret';
const SAMPLE_LOADED = 'sample-loaded';

/** Opens everything, loads the sample on a first start, and serves. What was opened is closed again when a step fails. */
export async function serve(config: Config, options: ServeOptions): Promise<RunningServer> {
  const opened: { close(): Promise<void> }[] = [];
  const closeAll = async (): Promise<void> => {
    for (const part of opened.splice(0).reverse()) await part.close();
  };
  try {
    return await start(config, options, opened, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function start(
  config: Config,
  options: ServeOptions,
  opened: { close(): Promise<void> }[],
  closeAll: () => Promise<void>,
): Promise<RunningServer> {
  const logger = createPinoLogger({ level: config.logLevel });
  const cipher = openCipher(config, logger);
  const store: Store = await openStore(config, cipher);
  opened.push(store);
  const openModel = (name: string) => openEngines({ ...config, embedder: name }, logger, cipher);
  const pull = async (name: string) => {
    const onProgress = (progress: Progress) => options.onProgress?.(`Fetching ${name}`, progress);
    await modelFiles.pull(config, name, { onProgress, signal: options.signal });
  };
  const engines: Engines = await openModel(await firstModelName({ store, config, logger, pull }));
  opened.push(engines);
  let app: App | undefined;
  const telemetry = await openTelemetry(config, {
    store,
    serving: () => app?.engines ?? engines,
    logger,
    version: options.version ?? 'unknown',
  });
  opened.push(telemetry);
  const made = await createApp({
    ...{ store, engines, logger, settings: config, runJobs: true, writeSnapshots: true },
    openEngines: openModel,
    askChecker: checkerOf(config),
    watchers: telemetry.watchers,
    jobWatchers: telemetry.jobWatchers,
    recallShare: config.recallShare,
  });
  app = made;
  opened.push(made);
  const stopSweeps = scheduleSweeps({
    ...{ jobs: store.jobs, audit: store.audit, clock: systemClock, logger },
    everyMinutes: config.sweepMinutes,
  });
  opened.push({ close: async () => stopSweeps() });
  const newAdminKey = await ensureAdminKey(
    { keys: store.keys, audit: store.audit, clock: systemClock },
    config.adminKey,
  );
  const sample = config.sample ? await loadSampleOnce(made, store, options) : undefined;
  const server = await createGraphqlServer({
    useCases: made.useCases,
    logger,
    metrics: telemetry.metrics,
    within: telemetry.within,
    config: {
      ...GRAPHQL_SERVER_DEFAULTS,
      host: config.host,
      port: config.port,
      introspection: config.introspection,
      trustedOrigins: config.trustedOrigins,
      cursorSecret: await cursorSecret(store),
      reviewerBodyLimitBytes: config.limits.maxBodyBytes,
      limits: {
        ...GRAPHQL_SERVER_DEFAULTS.limits,
        maxDepth: config.limits.maxDepth,
        maxAliases: config.limits.maxAliases,
        maxTokens: config.limits.maxTokens,
        maxCost: config.limits.maxCost,
      },
    },
  });
  const { url } = await server.listen();
  // After listening, so that health checks see the port at once; ahead of the first prompt in all but a race.
  setImmediate(() => made.warmUp());
  opened.push(server);
  return {
    url,
    newAdminKey,
    firstStart: newAdminKey !== undefined || sample !== undefined,
    sample,
    notes: await store.notes.count('all', { statuses: ['ACTIVE'] }),
    storeDescription: store.description,
    embeddingModel: engines.embedder.model.id,
    embeddingNotice: engines.embedder.model.notice,
    close: closeAll,
  };
}

/** Cursors signed by one process must be good for every process of the installation. */
async function cursorSecret(store: Store): Promise<string> {
  const made = JSON.stringify(randomBytes(32).toString('base64url'));
  return JSON.parse(await store.settings.putIfAbsent(CURSOR_SECRET, made)) as string;
}

async function loadSampleOnce(
  app: App,
  store: Store,
  options: ServeOptions,
): Promise<RunningServer['sample']> {
  if ((await store.settings.get(SAMPLE_LOADED)) !== undefined) return undefined;
  const loaded = await loadSample(app.useCases.commands, {
    onProgress: (done, total) => options.onProgress?.('Loading the sample', { done, total }),
  });
  const golden = sampleGoldenSet().queries.map((query: GoldenQuery) => ({
    ...query,
    expected: query.expected.map(({ key, grade }) => ({ key: loaded.ids.get(key) ?? key, grade })),
  }));
  await app.useCases.evaluations.saveGoldenSet(
    SAMPLER,
    SAMPLE_NAMESPACE,
    golden.map((query) => JSON.stringify(query)).join('\n'),
    // A note that is gone by then must not keep the server from starting.
    { allowUnknownNotes: true },
  );
  // Last: a start that was killed before this line loads again, which adds nothing twice.
  await store.settings.put(SAMPLE_LOADED, JSON.stringify(loaded.outcomes));
  return { namespace: SAMPLE_NAMESPACE, notes: new Set(loaded.ids.values()).size };
}
