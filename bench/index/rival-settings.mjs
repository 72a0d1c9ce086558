// What all engines are given alike.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Graphs of all engines: HNSW's M and the beam of its construction. */
export const CONNECTIVITY = 16;
export const EF_CONSTRUCTION = 128;
/** Shares of the rows that the filters let pass, by the name of the column that holds 1 for them. */
export const SHARES = { s01: 0.001, s1: 0.01, s10: 0.1 };

export const temporary = () => mkdtempSync(path.join(tmpdir(), 'errata-bench-'));
