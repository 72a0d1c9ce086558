import { createHash } from 'node:crypto';
import type { AuditDraft } from '../../../src/domain/audit.js';
import type { FeedbackNote, NoteVectors } from '../../../src/domain/note.js';
import { NO_OUTCOMES } from '../../../src/domain/note.js';
import type { NoteInsert, NoteStore, NoteWrite } from '../../../src/ports/note-store.js';

export const noteId = (label: string): string => createHash('sha256').update(label).digest('hex');

/** An instant `n` seconds into a fixed day. */
export const at = (n: number): string => new Date(Date.UTC(2026, 0, 31) + n * 1_000).toISOString();

export const audit = (action = 'created', more: Partial<AuditDraft> = {}): AuditDraft => ({
  at: at(0),
  actor: 'tester',
  action,
  changes: [],
  ...more,
});

export function sampleNote(label: string, more: Partial<NoteWrite> = {}): NoteWrite {
  return {
    id: noteId(label),
    namespace: 'acme',
    taskType: 'code-review',
    wrongAnswer: `${label} was claimed`,
    correction: `${label} is true`,
    lesson: `Remember ${label}`,
    attributes: {},
    impact: 'NORMAL',
    status: 'ACTIVE',
    sources: [{ kind: 'review', author: 'ada' }],
    supportCount: 1,
    findings: [],
    createdAt: at(0),
    updatedAt: at(0),
    supersedes: [],
    outcomes: NO_OUTCOMES,
    ...more,
  };
}

/** A note that waits since the instant. */
export function sampleReview(openedAt: string): Pick<NoteWrite, 'status' | 'review'> {
  return {
    status: 'PENDING',
    review: {
      ...{ cause: 'impact', openedAt, dueAt: at(99), required: 1, byOthers: false, submittedBy: 'eve' },
      ...{ approvals: [], escalations: 0 },
    },
  };
}

export const vectors = (...values: number[]): NoteVectors => ({
  modelId: 'model@1',
  lesson: Float32Array.from(values),
});

export function entry(label: string, more: Partial<NoteWrite> = {}, held?: NoteVectors): NoteInsert {
  const note = sampleNote(label, more);
  return { note, audit: audit(), ...(held === undefined ? {} : { vectors: held }) };
}

export async function insertOne(
  store: NoteStore,
  label: string,
  more: Partial<NoteWrite> = {},
  held?: NoteVectors,
): Promise<FeedbackNote> {
  const [outcome] = await store.insert([entry(label, more, held)]);
  if (outcome?.note === undefined) throw new Error(`Expected ${label} to be new`);
  return outcome.note;
}

/** What an update takes: the note without what the store sets. */
export function writable(note: FeedbackNote): NoteWrite {
  const { version: _version, embeddingModel: _model, ...rest } = note;
  return rest;
}
