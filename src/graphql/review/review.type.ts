import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Anchor, AnchorKind } from '../../domain/anchor.js';
import type { Instant } from '../../domain/note.js';
import type { Approval, ReviewCause, ReviewPolicy, ReviewState } from '../../domain/review.js';
import type {
  AnchorReport,
  ReviewMetrics,
  ReviewResult,
  SweepAction,
  SweepEntry,
  SweepReport,
} from '../../ports/review-commands.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { AnchorKindEnum, ContradictionPolicyEnum } from '../enums.js';

@ObjectType('Anchor', {
  description: 'Something that a note depends on; when it changes, the note waits for another look.',
  simpleResolvers: true,
})
export class AnchorType implements Anchor {
  @Field(() => AnchorKindEnum, { description: 'What it is.' })
  readonly kind!: AnchorKind;
  @Field(() => String, { description: 'Path, rule id, ticket number or address.' })
  readonly ref!: string;
  @Field(() => String, { description: 'What it was when the note was written: a digest, version or status.' })
  readonly state!: string;
  @Field(() => String, { nullable: true, description: 'What it was reported to be since.' })
  readonly changedTo?: string | undefined;
}

@InputType('AnchorInput', { description: 'Something that a note depends on.' })
export class AnchorInputType {
  @Field(() => AnchorKindEnum, { description: 'What it is.' })
  kind!: AnchorKind;
  @Field(() => String, { description: 'Path, rule id, ticket number or address.' })
  ref!: string;
  @Field(() => String, { description: 'What it is now: a digest, version or status.' })
  state!: string;
}

@ObjectType('AnchorReport', {
  description: 'What the report of a changed anchor did.',
  simpleResolvers: true,
})
export class AnchorReportType implements AnchorReport {
  @Field(() => Int, { description: 'Notes that depend on it.' })
  readonly matched!: number;
  @Field(() => [ID], { description: 'Those that knew it in another state.' })
  readonly changed!: readonly string[];
  @Field(() => [ID], { description: 'Those of them that were live and now wait for a reviewer.' })
  readonly demoted!: readonly string[];
  @Field(() => Boolean, { description: 'Whether nothing was written.' })
  readonly dryRun!: boolean;
}

@ObjectType('Approval', { description: "One reviewer's word.", simpleResolvers: true })
class ApprovalType implements Approval {
  @Field(() => String, { description: 'Who.' })
  readonly by!: string;
  @Field(() => DateTimeScalar, { description: 'When.' })
  readonly at!: Instant;
  @Field(() => String, { description: 'APPROVE, KEEP_BOTH or REPLACE; only the same words add up.' })
  readonly decision!: string;
}

@ObjectType('ReviewState', { description: 'What a waiting note waits for.', simpleResolvers: true })
export class ReviewStateType implements ReviewState {
  @Field(() => String, {
    description:
      'Why: screening, contradiction, impact, scope, unknown-author, policy, demoted, anchor-changed, review-due, restored or edit.',
  })
  readonly cause!: ReviewCause;
  @Field(() => DateTimeScalar, { description: 'Since when it waits.' })
  readonly openedAt!: Instant;
  @Field(() => DateTimeScalar, { description: 'Once past, the sweep escalates and sets the next one.' })
  readonly dueAt!: Instant;
  @Field(() => Int, { description: 'Approvals before it goes live.' })
  readonly required!: number;
  @Field(() => Boolean, { description: "Whether the author's own approval does not count." })
  readonly byOthers!: boolean;
  @Field(() => String, { description: 'Who brought the text.' })
  readonly submittedBy!: string;
  @Field(() => String, { nullable: true, description: 'Who was asked to judge it.' })
  readonly assignee?: string | undefined;
  @Field(() => [ApprovalType], { description: 'Those given so far.' })
  readonly approvals!: readonly ApprovalType[];
  @Field(() => Int, { description: 'How often it has passed its due time.' })
  readonly escalations!: number;
}

@ObjectType('ReviewResult', { description: 'One note of a bulk decision.', simpleResolvers: true })
export class ReviewResultType {
  @Field(() => ID, { description: "The note's id." })
  readonly id: string;
  @Field(() => Boolean, { description: 'Whether the decision was taken.' })
  readonly decided: boolean;
  @Field(() => String, { nullable: true, description: 'The status after it.' })
  readonly status: string | undefined;
  @Field(() => String, { nullable: true, description: 'Code of the error that refused it.' })
  readonly refused: string | undefined;

  constructor({ id, note, refused }: ReviewResult) {
    this.id = id;
    this.decided = note !== undefined;
    this.status = note?.status;
    this.refused = refused;
  }
}

@ObjectType('ReviewerDecisions', { description: 'How much one reviewer decided.', simpleResolvers: true })
class ReviewerDecisionsType {
  @Field(() => String, { description: 'Name of the key.' })
  readonly reviewer!: string;
  @Field(() => Int, { description: 'Decisions in the days asked for.' })
  readonly decisions!: number;
}

@ObjectType('ReviewMetrics', { description: 'How deep and old the queue is.', simpleResolvers: true })
export class ReviewMetricsType implements ReviewMetrics {
  @Field(() => Int, { description: 'Notes that wait.' })
  readonly pending!: number;
  @Field(() => Int, { description: 'Notes that the screen held back.' })
  readonly quarantined!: number;
  @Field(() => Int, { description: 'Past their due time.' })
  readonly overdue!: number;
  @Field(() => Int, { description: 'Escalated at least once.' })
  readonly escalated!: number;
  @Field(() => Int, { description: 'Asked of nobody in particular.' })
  readonly unassigned!: number;
  @Field(() => Int, { nullable: true, description: 'Days since the oldest began to wait.' })
  readonly oldestDays?: number | undefined;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When that one entered the queue.' })
  readonly oldestOpenedAt?: Instant | undefined;
  @Field(() => [ReviewerDecisionsType], { description: 'Most first.' })
  readonly decisions!: readonly ReviewerDecisionsType[];
  @Field(() => Boolean, { description: 'Whether there was more than was counted.' })
  readonly truncated!: boolean;
}

@ObjectType('SweepEntry', { description: 'One note of a staleness sweep.', simpleResolvers: true })
class SweepEntryType implements SweepEntry {
  @Field(() => String, { description: "The note's namespace." })
  readonly namespace!: string;
  @Field(() => ID, { description: "The note's id." })
  readonly noteId!: string;
  @Field(() => String, { description: 'EXPIRED, REVIEW_DUE, ESCALATED or GIVEN_UP.' })
  readonly action!: SweepAction;
  @Field(() => String, { description: 'Why.' })
  readonly reason!: string;
}

@ObjectType('SweepReport', {
  description: 'What a staleness sweep did or, as a dry run, would do.',
  simpleResolvers: true,
})
export class SweepReportType implements SweepReport {
  @Field(() => ID, { description: "The sweep's job." })
  readonly run!: string;
  @Field(() => Boolean, { description: 'Whether nothing was written.' })
  readonly dryRun!: boolean;
  @Field(() => [SweepEntryType], { description: 'Newest change first; of a dry run oldest note first.' })
  readonly entries!: readonly SweepEntryType[];
  @Field(() => Boolean, { description: 'Whether more follow.' })
  readonly hasMore!: boolean;
}

@ObjectType('RequiredApprovals', {
  description: 'Approvals before a note goes live, by what speaks for looking; 0: at once.',
  simpleResolvers: true,
})
class RequiredApprovalsType {
  @Field(() => Int, { description: 'Notes of which nothing speaks for looking.' })
  readonly ordinary!: number;
  @Field(() => Int, { description: 'Notes of impact HIGH.' })
  readonly highImpact!: number;
  @Field(() => Int, {
    description: 'Notes without attributes: they apply to every check of their task type.',
  })
  readonly broadScope!: number;
  @Field(() => Int, { description: 'Notes by none of the known authors.' })
  readonly unknownAuthor!: number;
  @Field(() => Int, { description: 'Notes that the screen doubts; at least 1.' })
  readonly doubt!: number;
}

@ObjectType('ReviewPolicy', { description: 'How a namespace reviews.', simpleResolvers: true })
export class ReviewPolicyType implements ReviewPolicy {
  @Field(() => RequiredApprovalsType, { description: 'The most that applies counts.' })
  readonly approvals!: RequiredApprovalsType;
  @Field(() => [String], { description: 'None: everybody is known.' })
  readonly knownAuthors!: readonly string[];
  @Field(() => ContradictionPolicyEnum, {
    description: 'What becomes of a correction that reverses another.',
  })
  readonly contradictions!: 'HOLD' | 'NEWEST';
  @Field(() => Int, {
    description: 'Days until a waiting note is escalated, and from one escalation to the next.',
  })
  readonly dueDays!: number;
  @Field(() => Int, { description: 'Days after which what nobody judged is deprecated.' })
  readonly giveUpDays!: number;
  @Field(() => Boolean, { description: 'Whether a live note whose reviewAfter has passed leaves retrieval.' })
  readonly demoteWhenDue!: boolean;
}

@InputType('RequiredApprovalsInput', { description: '0 to 2 each; what is left out has its default.' })
class RequiredApprovalsInput {
  @Field(() => Int, { nullable: true, description: 'Notes of which nothing speaks for looking; default 0.' })
  ordinary?: number | null;
  @Field(() => Int, { nullable: true, description: 'Notes of impact HIGH; default 1.' })
  highImpact?: number | null;
  @Field(() => Int, { nullable: true, description: 'Notes without attributes; default 0.' })
  broadScope?: number | null;
  @Field(() => Int, { nullable: true, description: 'Notes by none of the known authors; default 0.' })
  unknownAuthor?: number | null;
  @Field(() => Int, { nullable: true, description: 'Notes that the screen doubts; 1 or 2, default 1.' })
  doubt?: number | null;
}

@InputType('ReviewPolicyInput', { description: 'Replaces the policy; what is left out has its default.' })
export class ReviewPolicyInput {
  @Field(() => RequiredApprovalsInput, { nullable: true, description: 'Approvals before a note goes live.' })
  approvals?: RequiredApprovalsInput | null;
  @Field(() => [String], { nullable: true, description: 'None: everybody is known.' })
  knownAuthors?: string[] | null;
  @Field(() => ContradictionPolicyEnum, { nullable: true, description: 'Default NEWEST.' })
  contradictions?: 'HOLD' | 'NEWEST' | null;
  @Field(() => Int, { nullable: true, description: 'Default 7.' })
  dueDays?: number | null;
  @Field(() => Int, { nullable: true, description: 'Default 60.' })
  giveUpDays?: number | null;
  @Field(() => Boolean, { nullable: true, description: 'Default true.' })
  demoteWhenDue?: boolean | null;
}

/** What was given, without nulls: the use case knows the defaults and checks the rest. */
export function readReviewPolicyInput(input: ReviewPolicyInput): Record<string, unknown> {
  const given = (value: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(value).filter(([, held]) => held != null));
  return {
    ...given(input),
    ...(input.approvals != null && { approvals: given(input.approvals) }),
  };
}
