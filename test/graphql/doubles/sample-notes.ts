import type { AuditEvent } from '../../../src/domain/audit.js';
import type { FeedbackNote } from '../../../src/domain/note.js';

const START_MS = Date.parse('2026-01-01T00:00:00.000Z');

/** Sixty-four hex digits that tell which note it is. */
export const noteId = (index: number): string => index.toString(16).padStart(64, '0');

export function sampleNote(index: number, changes: Partial<FeedbackNote> = {}): FeedbackNote {
  const createdAt = new Date(START_MS + index * 60_000).toISOString();
  return {
    id: noteId(index),
    namespace: 'default',
    taskType: index % 2 === 0 ? 'code-review' : 'dependency-scan',
    wrongAnswer: `wrong answer ${index}`,
    correction: `correction ${index}`,
    lesson: `lesson ${index}`,
    attributes: { repo: `repo-${index % 3}` },
    impact: 'NORMAL',
    status: 'ACTIVE',
    sources: [{ kind: 'review', author: 'ada' }],
    supportCount: 1,
    findings: [],
    createdAt,
    updatedAt: createdAt,
    supersedes: [],
    version: 1,
    embeddingModel: 'double',
    outcomes: { retrieved: 0, helpful: 0, harmful: 0, ignored: 0 },
    ...changes,
  };
}

export function sampleEvents(note: FeedbackNote, count: number): AuditEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${note.id}:${count - index}`,
    at: new Date(Date.parse(note.createdAt) + (count - index) * 1_000).toISOString(),
    actor: 'ada',
    action: index === count - 1 ? 'created' : 'updated',
    namespace: note.namespace,
    noteId: note.id,
    changes: ['status: PENDING → ACTIVE'],
  }));
}
