import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import { type App, createApp } from '../../src/app/create-app.js';
import { type Engines, openEngines } from '../../src/app/installation.js';
import type { Config } from '../../src/config/config.js';
import { parseConfig } from '../../src/config/parse-config.js';
import type { Caller } from '../../src/domain/api-key.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { Store } from '../../src/ports/note-store.js';

export const ADMIN: Caller = { name: 'tester', roles: ['admin'] };

export interface RealApp {
  readonly folder: string;
  readonly config: Config;
  readonly store: Store;
  readonly engines: Engines;
  readonly app: App;
  close(): Promise<void>;
}

/** An app over real parts: SQLite in a folder of its own (or the given one), the native index, the real model. */
export async function openRealApp(
  options: { folder?: string; runJobs?: boolean; flags?: Readonly<Record<string, string>> } = {},
): Promise<RealApp> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'errata-app-'));
  const config = parseConfig({ env: {}, flags: { data: folder, ...options.flags } });
  const store = await createSqliteStore({ path: join(folder, 'errata.sqlite') });
  const engines = await openEngines(config);
  const app = await createApp({
    ...{ store, engines, logger: silentLogger, settings: config },
    runJobs: options.runJobs ?? false,
  });
  return {
    folder,
    config,
    store,
    engines,
    app,
    async close() {
      await app.close();
      await engines.close();
      await store.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
