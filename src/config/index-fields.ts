import { availableParallelism } from 'node:os';
import { type ConfigField, flagField, whole } from './config-field.js';

/** Two, so that a write never holds a search up; more than eight wait for memory. */
const defaultIndexThreads = Math.max(2, Math.min(8, availableParallelism()));

function graphField(
  key: string,
  name: string,
  fallback: number,
  [min, max]: readonly [number, number],
  description: string,
): ConfigField {
  return flagField({
    key: `graph.${key}`,
    env: `ERRATA_${name.toUpperCase().replaceAll('-', '_')}`,
    flag: name,
    placeholder: 'n',
    default: String(fallback),
    description,
    expected: `a whole number between ${min} and ${max}`,
    schema: whole(min, max),
  });
}

/** The vector index; bounds are the addon's. */
export const indexFields: readonly ConfigField[] = [
  {
    key: 'indexThreads',
    env: 'ERRATA_INDEX_THREADS',
    flag: 'index-threads',
    placeholder: 'n',
    default: 'cores, 2 to 8',
    fallback: String(defaultIndexThreads),
    description: 'threads that search and write the vector index',
    expected: 'a whole number between 1 and 64',
    schema: whole(1, 64),
  },
  // 8,000 notes scan in about 2 ms of memory traffic; at 20,000 the scan (5 ms a query on one core) was what kept p95 at
  // concurrency 4 above 25 ms, see `bench/suites/retrieve.mjs`.
  graphField(
    'threshold',
    'graph-threshold',
    16_000,
    [1, 1_000_000_000],
    'vectors (two a note) from which a task type gets a graph; below, all are compared',
  ),
  graphField('connectivity', 'graph-connectivity', 16, [2, 512], 'links of a graph node a level (M of HNSW)'),
  graphField(
    'efConstruction',
    'graph-ef-construction',
    128,
    [1, 65_536],
    'beam while a graph is built: wider finds more and builds longer',
  ),
  graphField(
    'efSearch',
    'graph-ef-search',
    64,
    [1, 65_536],
    'beam of a graph search that names none: wider finds more and takes longer',
  ),
];
