import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { ErrataError } from '../../domain/errors.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import type { ReviewDecision } from '../../ports/review-commands.js';
import { grantedScope, requireNamespace, scopeFor } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { ReviewDecisionEnum } from '../enums.js';
import { FeedbackNoteType } from '../note/note.type.js';
import {
  AnchorInputType,
  AnchorReportType,
  ReviewMetricsType,
  ReviewPolicyInput,
  ReviewPolicyType,
  ReviewResultType,
  readReviewPolicyInput,
  SweepReportType,
} from './review.type.js';

const NAMESPACE_OPTIONS = {
  nullable: true,
  defaultValue: DEFAULT_NAMESPACE,
  description: "The notes' namespace.",
} as const;
const MAX_DAYS = 366;

@Resolver()
export class ReviewResolver {
  @Query(() => ReviewPolicyType, { description: 'How a namespace reviews. Role: reviewer.' })
  reviewPolicy(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
  ): Promise<ReviewPolicyType> {
    requireRole(context.caller, 'reviewer');
    return context.useCases.review.policy(requireNamespace(context.caller, namespace));
  }

  @Mutation(() => ReviewPolicyType, {
    description:
      'Sets how a namespace reviews; notes that wait already keep what they were told. Role: admin.',
  })
  setReviewPolicy(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('policy', () => ReviewPolicyInput, { description: 'The whole policy.' }) policy: ReviewPolicyInput,
  ): Promise<ReviewPolicyType> {
    requireRole(context.caller, 'admin');
    const named = requireNamespace(context.caller, namespace);
    return context.useCases.review.setPolicy(context.caller, named, readReviewPolicyInput(policy));
  }

  @Query(() => ReviewMetricsType, {
    description: 'Depth and age of the queue, and who decided how much. Role: reviewer.',
  })
  reviewMetrics(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, {
      nullable: true,
      description: 'None: every one that the key is granted.',
    })
    namespace?: string | null,
    @Arg('days', () => Int, {
      nullable: true,
      defaultValue: 30,
      description: 'Decisions of this many days, 1…366.',
    })
    days?: number | null,
  ): Promise<ReviewMetricsType> {
    requireRole(context.caller, 'reviewer');
    const asked = days ?? 30;
    if (asked < 1 || asked > MAX_DAYS) {
      throw new ErrataError('INVALID_INPUT', `Expected 1 to ${MAX_DAYS} for days, received ${asked}`, {
        details: { field: 'days' },
      });
    }
    return context.useCases.review.metrics(scopeFor(context.caller, namespace), asked);
  }

  @Query(() => SweepReportType, {
    description:
      'The notes of a staleness sweep, dry or not, in the namespaces of the key, with what became of each and why. Role: reviewer.',
  })
  sweepReport(
    @Ctx() context: GraphqlContext,
    @Arg('jobId', () => ID, { description: "The sweep's job." }) jobId: string,
    @Arg('first', () => Int, { nullable: true, defaultValue: 50, description: 'Page size, 1…200.' })
    first?: number | null,
    @Arg('offset', () => Int, { nullable: true, defaultValue: 0, description: 'Notes to leave out.' })
    offset?: number | null,
  ): Promise<SweepReportType> {
    requireRole(context.caller, 'reviewer');
    const window = { limit: first ?? 50, offset: offset ?? 0 };
    return context.useCases.review.sweepReport(grantedScope(context.caller), jobId, window);
  }

  @Mutation(() => FeedbackNoteType, {
    description: 'Asks a reviewer to judge a waiting note. Role: reviewer.',
  })
  async assignReview(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The note's id." }) id: string,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('assignee', () => String, { nullable: true, description: 'None: nobody in particular.' })
    assignee?: string | null,
  ): Promise<FeedbackNoteType> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    context.loaders.clear();
    const note = await context.useCases.review.assign(context.caller, named, id, assignee ?? undefined);
    return new FeedbackNoteType(note);
  }

  @Mutation(() => Boolean, { description: "Adds a remark to a note's history. Role: reviewer." })
  async commentNote(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The note's id." }) id: string,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('comment', () => String, { description: 'One line.' }) comment: string,
  ): Promise<boolean> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    context.loaders.clear();
    await context.useCases.review.comment(context.caller, named, id, comment);
    return true;
  }

  @Mutation(() => [ReviewResultType], {
    description: 'The same decision about up to 200 notes, each on its own. Role: reviewer.',
  })
  async reviewNotes(
    @Ctx() context: GraphqlContext,
    @Arg('ids', () => [ID], { description: "The notes' ids." }) ids: string[],
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('decision', () => ReviewDecisionEnum, { description: 'What becomes of them.' })
    decision: ReviewDecision,
    @Arg('comment', () => String, { nullable: true, description: 'Why; kept in the audit log.' })
    comment?: string | null,
  ): Promise<ReviewResultType[]> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    context.loaders.clear();
    const results = await context.useCases.review.decideMany(context.caller, {
      ...{ namespace: named, ids, decision },
      ...(comment != null && { comment }),
    });
    return results.map((result) => new ReviewResultType(result));
  }

  @Mutation(() => AnchorReportType, {
    description:
      'Reports the state of something that notes depend on: live notes that knew it in another state leave retrieval at once and wait for a reviewer. Role: reviewer.',
  })
  async reportAnchor(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('anchor', () => AnchorInputType, { description: 'What it is now.' }) anchor: AnchorInputType,
    @Arg('dryRun', () => Boolean, { defaultValue: false, description: 'Only say what would be done.' })
    dryRun: boolean,
  ): Promise<AnchorReportType> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    context.loaders.clear();
    const { kind, ref, state } = anchor;
    return context.useCases.review.reportAnchor(context.caller, {
      namespace: named,
      kind,
      ref,
      state,
      dryRun,
    });
  }
}
