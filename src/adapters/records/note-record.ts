import { ANCHOR_KINDS, type Anchor } from '../../domain/anchor.js';
import {
  type Attributes,
  type FeedbackNote,
  type Finding,
  IMPACTS,
  type Impact,
  type MergeCandidate,
  NOTE_STATUSES,
  type NoteSource,
  type NoteStatus,
  type OutcomeCounts,
} from '../../domain/note.js';
import { type Approval, REVIEW_CAUSES, type ReviewCause, type ReviewState } from '../../domain/review.js';

type Fields = Readonly<Record<string, unknown>>;

/** Thrown inside this file only: a record that cannot be read is `undefined` to its caller, who counts it. */
class UnreadableRecord extends Error {}

/**
 * A note from a record of any store, or undefined where a field has a wrong type or value (a damaged or foreign record).
 * About 2 µs a note.
 */
export function readNote(record: Fields): FeedbackNote | undefined {
  try {
    return {
      id: text(record.id),
      namespace: text(record.namespace),
      taskType: text(record.taskType),
      wrongAnswer: text(record.wrongAnswer),
      correction: text(record.correction),
      lesson: text(record.lesson),
      attributes: attributes(record.attributes),
      impact: oneOf<Impact>(IMPACTS, record.impact),
      status: oneOf<NoteStatus>(NOTE_STATUSES, record.status),
      sources: list(record.sources).map(source),
      supportCount: count(record.supportCount),
      findings: list(record.findings).map(finding),
      createdAt: text(record.createdAt),
      updatedAt: text(record.updatedAt),
      ...optionalText('expiresAt', record.expiresAt),
      ...optionalText('reviewAfter', record.reviewAfter),
      supersedes: list(record.supersedes).map(text),
      ...optionalText('supersededBy', record.supersededBy),
      ...mergeCandidate(record.mergeCandidate),
      ...optionalText('contestedBy', record.contestedBy),
      ...anchors(record.anchors),
      ...review(record.review),
      version: count(record.version),
      ...optionalText('embeddingModel', record.embeddingModel),
      outcomes: outcomes(record.outcomes),
    };
  } catch (error) {
    if (error instanceof UnreadableRecord) return undefined;
    throw error;
  }
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new UnreadableRecord();
  return value;
}

function count(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new UnreadableRecord();
  return value;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnreadableRecord();
  return value;
}

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UnreadableRecord();
  return value as Fields;
}

function oneOf<T extends string>(values: readonly T[], value: unknown): T {
  const found = values.find((known) => known === value);
  if (found === undefined) throw new UnreadableRecord();
  return found;
}

function optionalText<Name extends string>(name: Name, value: unknown): { [K in Name]?: string } {
  if (value === undefined || value === null) return {};
  return { [name]: text(value) } as { [K in Name]?: string };
}

function attributes(value: unknown): Attributes {
  const held = fields(value);
  Object.values(held).forEach(text);
  return held as Attributes;
}

function source(value: unknown): NoteSource {
  const held = fields(value);
  return {
    kind: text(held.kind),
    ...optionalText('author', held.author),
    ...optionalText('tool', held.tool),
    ...optionalText('url', held.url),
    ...optionalText('record', held.record),
    ...optionalText('run', held.run),
    ...optionalText('at', held.at),
  };
}

function finding(value: unknown): Finding {
  const held = fields(value);
  return { rule: text(held.rule), field: text(held.field), reason: text(held.reason) };
}

function mergeCandidate(value: unknown): { mergeCandidate?: MergeCandidate } {
  if (value === undefined || value === null) return {};
  const held = fields(value);
  if (typeof held.similarity !== 'number') throw new UnreadableRecord();
  const waiting = held.waiting === true ? { waiting: true as const } : {};
  return { mergeCandidate: { noteId: text(held.noteId), similarity: held.similarity, ...waiting } };
}

function anchors(value: unknown): { anchors?: readonly Anchor[] } {
  if (value === undefined || value === null) return {};
  return {
    anchors: list(value).map((entry) => {
      const held = fields(entry);
      return {
        kind: oneOf(ANCHOR_KINDS, held.kind),
        ref: text(held.ref),
        state: text(held.state),
        ...optionalText('changedTo', held.changedTo),
      };
    }),
  };
}

function review(value: unknown): { review?: ReviewState } {
  if (value === undefined || value === null) return {};
  const held = fields(value);
  return {
    review: {
      cause: oneOf<ReviewCause>(REVIEW_CAUSES, held.cause),
      openedAt: text(held.openedAt),
      dueAt: text(held.dueAt),
      required: count(held.required),
      byOthers: held.byOthers === true,
      submittedBy: text(held.submittedBy),
      ...(held.coAuthors == null ? {} : { coAuthors: list(held.coAuthors).map(text) }),
      ...optionalText('assignee', held.assignee),
      approvals: list(held.approvals).map(approval),
      escalations: count(held.escalations),
    },
  };
}

function approval(value: unknown): Approval {
  const held = fields(value);
  return { by: text(held.by), at: text(held.at), decision: text(held.decision) };
}

function outcomes(value: unknown): OutcomeCounts {
  const held = fields(value);
  return {
    retrieved: count(held.retrieved),
    helpful: count(held.helpful),
    harmful: count(held.harmful),
    ignored: count(held.ignored),
  };
}
