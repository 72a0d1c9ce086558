import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
import type { Caller } from '../domain/api-key.js';
import type { NoteId } from '../domain/note.js';
import { type GoldenSet, halfOf, parseGoldenSet } from '../evaluation/golden-set.js';
import type { NoteCommands, SubmitResult } from '../ports/use-cases.js';
import { type NoteRow, parseNoteRows } from './note-rows.js';

export const SAMPLE_NAMESPACE = 'sample';
export const SAMPLE_NOTES = new URL('../../sample/notes.jsonl', import.meta.url);
const SAMPLE_PAIRS = new URL('../../sample/pairs.jsonl', import.meta.url);
export const SAMPLE_GOLDEN = new URL('../../sample/golden.jsonl', import.meta.url);

export const SAMPLER: Caller = { name: 'sample', roles: ['admin'] };
const BATCH = 64;

const pairSchema = z.strictObject({ a: z.string(), b: z.string(), relation: z.string() });

/** Lessons of the sample: texts such as Errata meets, for measuring speed. */
export function sampleTexts(): readonly string[] {
  return readRows(SAMPLE_NOTES).map(({ correction }) => correction.lesson);
}

function readRows(file: string | URL): readonly NoteRow[] {
  return parseNoteRows(readFileSync(file, 'utf8'), basename(file instanceof URL ? file.pathname : file));
}

export interface LoadedSample {
  /** Handle of a sample note (its former id where notes were exported) to the id of the note that stands for it (a duplicate's is its original's). */
  readonly ids: ReadonlyMap<string, NoteId>;
  readonly outcomes: Readonly<Record<string, number>>;
}

/**
 * Submits sample notes as a team's corrections would come, oldest first, then judges them as its reviewer would: what waits
 * for approval is approved, what contradicts an older note replaces it, and what only sounds like it stands beside it.
 * Errors: `INVALID_FILE` with the line.
 */
export async function loadSample(
  commands: NoteCommands,
  options: {
    readonly notes?: string | URL;
    readonly namespace?: string;
    readonly onProgress?: (done: number, total: number) => void;
  } = {},
): Promise<LoadedSample> {
  const namespace = options.namespace ?? SAMPLE_NAMESPACE;
  const rows = readRows(options.notes ?? SAMPLE_NOTES);
  const replacing = contradictions();
  const ids = new Map<string, NoteId>();
  const outcomes: Record<string, number> = {};
  for (let start = 0; start < rows.length; start += BATCH) {
    const batch = rows.slice(start, start + BATCH);
    const inputs = batch.map(({ correction }) => ({ ...correction, namespace }));
    const results = await commands.submitMany(SAMPLER, inputs);
    for (const [index, result] of results.entries()) {
      const key = batch[index]?.key ?? '';
      const id = await judge(commands, namespace, result, replacing.has(key));
      if (id !== undefined) ids.set(key, id);
      outcomes[result.outcome] = (outcomes[result.outcome] ?? 0) + 1;
    }
    options.onProgress?.(Math.min(start + BATCH, rows.length), rows.length);
  }
  return { ids, outcomes };
}

/** Handles of notes that turn an older one around. */
function contradictions(): ReadonlySet<string> {
  const pairs = readFileSync(SAMPLE_PAIRS, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => pairSchema.parse(JSON.parse(line)));
  return new Set(pairs.filter(({ relation }) => relation === 'contradiction').map(({ b }) => b));
}

async function judge(
  commands: NoteCommands,
  namespace: string,
  result: SubmitResult,
  replaces: boolean,
): Promise<NoteId | undefined> {
  const { note, duplicateOf, outcome } = result;
  if (duplicateOf !== undefined && outcome === 'DUPLICATE') return duplicateOf.id;
  if (note === undefined) return undefined;
  if (note.status === 'PENDING' || duplicateOf?.contestedBy === note.id) {
    const decision = note.mergeCandidate === undefined ? 'APPROVE' : replaces ? 'REPLACE' : 'KEEP_BOTH';
    await commands.review(SAMPLER, { id: note.id, namespace, decision, comment: 'sample' });
  }
  return note.id;
}

/** Texts of the queries that the shipped weights were fitted on. */
export function sampleTuningQueries(): ReadonlySet<string> {
  const { queries } = sampleGoldenSet();
  return new Set(queries.filter((query) => halfOf(query) === 'tune').map(({ query }) => query));
}

/** The project's own golden queries; expected notes are named by sample handle. */
export function sampleGoldenSet(file: string | URL = SAMPLE_GOLDEN): GoldenSet {
  return parseGoldenSet(readFileSync(file, 'utf8'), 'golden.jsonl');
}
