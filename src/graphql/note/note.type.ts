import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { FeedbackNote, Impact, Instant, NoteStatus } from '../../domain/note.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { ImpactEnum, NoteStatusEnum } from '../enums.js';
import { PageInfoType } from '../paging/connection.type.js';
import { AnchorType, ReviewStateType } from '../review/review.type.js';
import { AttributeType } from './attribute.js';
import { FindingType, NoteSourceType, OutcomeCountsType } from './note-parts.type.js';

@ObjectType('FeedbackNote', {
  description:
    "A reviewer's correction: what a model claimed, what is true, and the lesson to inject next time. Never hard-deleted; every change makes a new version and an audit event.",
  simpleResolvers: true,
})
export class FeedbackNoteType {
  constructor(readonly note: FeedbackNote) {}

  @Field(() => ID, {
    description: 'SHA-256 over the canonical content: the same correction always has the same id.',
  })
  get id(): string {
    return this.note.id;
  }
  @Field(() => String, { description: 'Tenant boundary.' })
  get namespace(): string {
    return this.note.namespace;
  }
  @Field(() => String, { description: 'The kind of check the note belongs to.' })
  get taskType(): string {
    return this.note.taskType;
  }
  @Field(() => String, { description: 'What the model claimed.' })
  get wrongAnswer(): string {
    return this.note.wrongAnswer;
  }
  @Field(() => String, { description: 'What is true.' })
  get correction(): string {
    return this.note.correction;
  }
  @Field(() => String, { description: 'The one-line rule that is injected into prompts.' })
  get lesson(): string {
    return this.note.lesson;
  }
  @Field(() => [AttributeType], { description: 'Keys and values to filter on.' })
  get attributes(): AttributeType[] {
    return Object.entries(this.note.attributes).map(([key, value]) => new AttributeType(key, value));
  }
  @Field(() => ImpactEnum, { description: 'How much a wrong note could do.' })
  get impact(): Impact {
    return this.note.impact;
  }
  @Field(() => NoteStatusEnum, { description: 'Where the note stands; only ACTIVE notes are retrieved.' })
  get status(): NoteStatus {
    return this.note.status;
  }
  @Field(() => [NoteSourceType], { description: "Every source, merged duplicates' included." })
  get sources(): readonly NoteSourceType[] {
    return this.note.sources;
  }
  @Field(() => Int, { description: 'Number of distinct sources that stand behind the note.' })
  get supportCount(): number {
    return this.note.supportCount;
  }
  @Field(() => [FindingType], { description: 'What screening and redaction noticed.' })
  get findings(): readonly FindingType[] {
    return this.note.findings;
  }
  @Field(() => DateTimeScalar, { description: 'When the correction was made.' })
  get createdAt(): Instant {
    return this.note.createdAt;
  }
  @Field(() => DateTimeScalar, { description: 'When the note last changed.' })
  get updatedAt(): Instant {
    return this.note.updatedAt;
  }
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'From then on the note is no longer retrieved.',
  })
  get expiresAt(): Instant | undefined {
    return this.note.expiresAt;
  }
  @Field(() => DateTimeScalar, { nullable: true, description: 'From then on a reviewer should look again.' })
  get reviewAfter(): Instant | undefined {
    return this.note.reviewAfter;
  }
  @Field(() => [AnchorType], { description: 'What the note depends on.' })
  get anchors(): readonly AnchorType[] {
    return this.note.anchors ?? [];
  }
  @Field(() => ReviewStateType, { nullable: true, description: 'What a waiting note waits for.' })
  get review(): ReviewStateType | undefined {
    return this.note.review;
  }
  @Field(() => ID, {
    nullable: true,
    description: 'A newer note that says the opposite, until a reviewer has decided between the two.',
  })
  get contestedBy(): string | undefined {
    return this.note.contestedBy;
  }
  @Field(() => Int, { description: '1 for a new note, one more with every change.' })
  get version(): number {
    return this.note.version;
  }
  @Field(() => String, {
    nullable: true,
    description: 'Id of the model that made the stored vectors; none: not embedded yet.',
  })
  get embeddingModel(): string | undefined {
    return this.note.embeddingModel;
  }
  @Field(() => OutcomeCountsType, { description: 'How the note did after it was retrieved.' })
  get outcomes(): OutcomeCountsType {
    return new OutcomeCountsType(this.note.outcomes);
  }
}

/** Null stays null, so that optional notes map in one place. */
export function toNoteType(note: FeedbackNote | undefined): FeedbackNoteType | undefined {
  return note === undefined ? undefined : new FeedbackNoteType(note);
}

@ObjectType('MergeCandidate', {
  description: 'A near duplicate that a reviewer should look at beside the note.',
  simpleResolvers: true,
})
export class MergeCandidateType {
  @Field(() => FeedbackNoteType, {
    nullable: true,
    description: 'The near duplicate; none where it is gone.',
  })
  readonly note: FeedbackNoteType | undefined;
  @Field(() => Float, { description: 'Cosine between the two lessons.' })
  readonly similarity: number;

  constructor(note: FeedbackNote | undefined, similarity: number) {
    this.note = toNoteType(note);
    this.similarity = similarity;
  }
}

@ObjectType('NoteEdge', { description: 'A note and its place in the list.', simpleResolvers: true })
export class NoteEdgeType {
  @Field(() => String, { description: 'Opaque; only good for the same list, order and filter.' })
  readonly cursor: string;
  @Field(() => FeedbackNoteType, { description: 'The note.' })
  readonly node: FeedbackNoteType;

  constructor(cursor: string, node: FeedbackNoteType) {
    this.cursor = cursor;
    this.node = node;
  }
}

@ObjectType('NoteConnection', { description: 'A page of notes (Relay).', simpleResolvers: true })
export class NoteConnectionType {
  @Field(() => [NoteEdgeType], { description: "The page's entries, in order." })
  readonly edges: readonly NoteEdgeType[];
  @Field(() => PageInfoType, { description: 'Where the page stands.' })
  readonly pageInfo: PageInfoType;

  /** @param countAll computes the number of all matching notes; only called where totalCount is selected. */
  constructor(
    edges: readonly NoteEdgeType[],
    pageInfo: PageInfoType,
    private readonly countAll: () => Promise<number>,
  ) {
    this.edges = edges;
    this.pageInfo = pageInfo;
  }

  @Field(() => Int, { description: 'Number of all matching notes; counted only when selected.' })
  totalCount(): Promise<number> {
    return this.countAll();
  }
}
