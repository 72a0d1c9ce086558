import { createPinoLogger } from '../adapters/logging/pino-logger.js';
import type { OpenAppOptions, OpenedApp } from '../cli/cli-deps.js';
import type { Config } from '../config/config.js';
import { verifyAudit } from '../guard/verify-audit.js';
import { exportNotes } from '../notes/import/export-notes.js';
import { absentEngines } from './absent-engines.js';
import { checkerOf } from './checker-of.js';
import { createApp } from './create-app.js';
import { importFile } from './import-file.js';
import { openEngines, openStore } from './installation.js';
import { openCipher } from './open-cipher.js';
import { servedModelName } from './served-model-name.js';

/** Opens an installation for one command. What was opened is closed again when a step fails. */
export async function openApp(config: Config, options: OpenAppOptions): Promise<OpenedApp> {
  const logger = createPinoLogger({ level: config.logLevel });
  const opened: { close(): Promise<void> }[] = [];
  const closeAll = async (): Promise<void> => {
    for (const part of opened.splice(0).reverse()) await part.close();
  };
  try {
    const cipher = openCipher(config, logger);
    const store = await openStore(config, cipher);
    opened.push(store);
    const whole = options.parts === 'everything';
    const openModel = (name: string) => openEngines({ ...config, embedder: name }, logger, cipher);
    const engines = whole ? await openModel(await servedModelName(store, config, logger)) : absentEngines();
    opened.push(engines);
    const app = await createApp({
      store,
      engines,
      logger,
      settings: config,
      runJobs: options.runJobs,
      follow: whole,
      openEngines: openModel,
      askChecker: checkerOf(config),
    });
    opened.push(app);
    const { embedder, vectorIndex, lexicalIndex } = engines;
    return {
      useCases: app.useCases,
      importFile: (request) => importFile(app.useCases.commands, request),
      exportNotes: ({ scope, filter }) => exportNotes(app.useCases.notes, scope, filter),
      diagnostics: () => ({
        storeDescription: store.description,
        notes: store.notes,
        ...(whole
          ? { retrieval: { vectorIndex, lexicalIndex, embedder, snapshot: app.snapshotState() } }
          : {}),
      }),
      askChecker: async (request) =>
        (await import('./ask-checker.js')).askConfiguredChecker(config, app.useCases.retrieval, request),
      evaluateNamespace: async (request) =>
        (await import('./evaluate-namespace.js')).evaluateNamespace({ app, store, config }, request),
      sweepNamespace: async (request) =>
        (await import('./sweep-sample.js')).sweepOwn({ app, store }, request),
      verifyAudit: (noted) => verifyAudit(store.audit, noted),
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
