import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ErrataError } from '../domain/errors.js';

/** `held-out` entries are never looked at while rules or thresholds are changed: their figures are the ones to quote. */
export const HALVES = ['tune', 'held-out'] as const;
export type Half = (typeof HALVES)[number];

/** Fields that every labelled entry has. */
export const labelledFields = { id: z.string().min(1), half: z.enum(HALVES), language: z.string() };

export interface LabelledSet<T> {
  readonly entries: readonly T[];
  /** First 16 hex digits of the SHA-256 over the file: which set a figure belongs to. */
  readonly digest: string;
}

/** Reads JSONL, one entry a line. Errors: `INVALID_FILE` with the line number, also for an id that is there twice. */
export function parseLabelledSet<T extends { readonly id: string }>(
  jsonl: string,
  name: string,
  schema: z.ZodType<T>,
): LabelledSet<T> {
  const entries: T[] = [];
  const ids = new Set<string>();
  jsonl.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const entry = parseLine(line, schema);
    if (entry === undefined || ids.has(entry.id)) {
      throw new ErrataError(
        'INVALID_FILE',
        `Expected a labelled entry with an id of its own for ${name} line ${index + 1}, received something else`,
        { details: { line: index + 1 } },
      );
    }
    ids.add(entry.id);
    entries.push(entry);
  });
  return { entries, digest: createHash('sha256').update(jsonl).digest('hex').slice(0, 16) };
}

function parseLine<T>(line: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
