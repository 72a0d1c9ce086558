import type { CliDeps, Diagnostics } from '../../src/cli/cli-deps.js';
import type { FeedbackNote } from '../../src/domain/note.js';
import type { Retrieval } from '../../src/domain/retrieval.js';

export function fakeNote(at?: number, changes?: Partial<FeedbackNote>): FeedbackNote;
export function fakeRetrieval(notes: readonly FeedbackNote[]): Retrieval;
export function untilAborted(signal: AbortSignal): Promise<never>;
export function exportedLines(count: number): AsyncIterable<string>;
export function fakeDiagnostics(counts?: { active?: number; held?: number; corrupt?: number }): Diagnostics;
/** Answers by the name under which a call is recorded. */
export function fakeDeps(answers?: Record<string, unknown>): {
  readonly deps: CliDeps;
  readonly calls: readonly (readonly [string, ...unknown[]])[];
};
