import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JobKind } from '../../src/domain/job.js';
import type { ProcessEnvironment } from './dist-process.js';

/** Where a server kills itself, see `kill-at.mjs`. */
export interface KillOrder {
  readonly pid?: number;
  readonly job?: JobKind;
  readonly write?: number;
  readonly commit?: number;
  readonly setting?: string;
  readonly end?: true;
}

export interface KillOrders {
  /** For processes that take orders. */
  readonly env: ProcessEnvironment;
  give(order: KillOrder): void;
  withdraw(): void;
}

/** Orders to the servers of one installation, through a file in `folder`. */
export function killOrders(folder: string): KillOrders {
  const file = join(folder, 'kill-order.json');
  const hook = new URL('./kill-at.mjs', import.meta.url);
  return {
    env: { ERRATA_TEST_KILL: file, NODE_OPTIONS: `--import=${hook.href}` },
    give: (order) => writeFileSync(file, JSON.stringify(order)),
    withdraw: () => rmSync(file, { force: true }),
  };
}

/** A second model that is committed: 24 dimensions, knows nothing. */
export const TINY_MODEL = fileURLToPath(new URL('../fixtures/models/tiny-bert-cls', import.meta.url));
