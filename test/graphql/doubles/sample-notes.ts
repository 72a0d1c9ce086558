import type { AuditEvent } from '../../../src/domain/audit.js';
import type { Calibration } from '../../../src/domain/calibration.js';
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

export function sampleCalibration(namespace: string): Calibration {
  const share = { count: 1, total: 20, rate: 0.05, low: 0.01, high: 0.24 };
  const figures = { wronglyInjected: share, answered: share, recall: 0.5 };
  return {
    namespace,
    embeddingModel: 'double',
    rerankModel: null,
    scoreScale: 'cosine',
    scoreFit: null,
    alpha: 0.05,
    goldenDigest: '0123456789abcdef',
    createdAt: '2026-02-01T00:00:00.000Z',
    createdBy: 'double',
    pooled: { value: 0.5, queries: 19, passed: 0 },
    byTaskType: { 'code-review': { value: 0.4, queries: 20, passed: 0 } },
    mapping: { bias: -1, slope: 2 },
    heldOut: { after: figures, before: figures, ceiling: figures, byTaskType: { 'code-review': figures } },
  };
}
