import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import type { FeedbackNote } from '../../domain/note.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import type { ReviewDecision } from '../../ports/review-commands.js';
import { requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { ReviewDecisionEnum } from '../enums.js';
import { CorrectionInputType, readCorrection } from '../submission/correction.input.js';
import { FeedbackNoteType } from './note.type.js';

const NAMESPACE_OPTIONS = {
  nullable: true,
  defaultValue: DEFAULT_NAMESPACE,
  description: "The notes' namespace.",
} as const;

const toTypes = (notes: readonly FeedbackNote[]): FeedbackNoteType[] =>
  notes.map((note) => new FeedbackNoteType(note));

@Resolver()
export class NoteLifecycleResolver {
  @Mutation(() => FeedbackNoteType, {
    description: 'Decides about a note that waits for review. Role: reviewer.',
  })
  async reviewNote(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The note's id." }) id: string,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('decision', () => ReviewDecisionEnum, { description: 'What becomes of it.' })
    decision: ReviewDecision,
    @Arg('comment', () => String, { nullable: true, description: 'Why; kept in the audit log.' })
    comment?: string | null,
    @Arg('edit', () => CorrectionInputType, {
      nullable: true,
      description:
        'Only with APPROVE: the corrected text, which becomes a new note that supersedes this one. Its namespace must be the note’s.',
    })
    edit?: CorrectionInputType | null,
  ): Promise<FeedbackNoteType> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    context.loaders.clear();
    const note = await context.useCases.commands.review(context.caller, {
      id,
      namespace: named,
      decision,
      ...(comment != null && { comment }),
      ...(edit != null && { edit: readCorrection(context.caller, edit, named) }),
    });
    return new FeedbackNoteType(note);
  }

  @Mutation(() => [FeedbackNoteType], {
    description:
      'Takes notes out of retrieval; once answered, no process serves them any more. All or none. Role: reviewer.',
  })
  async deprecateNotes(
    @Ctx() context: GraphqlContext,
    @Arg('ids', () => [ID], { description: "The notes' ids." }) ids: string[],
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('reason', () => String, { description: 'Why; kept in the audit log.' }) reason: string,
  ): Promise<FeedbackNoteType[]> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    context.loaders.clear();
    return toTypes(await context.useCases.commands.deprecate(context.caller, named, ids, reason));
  }

  @Mutation(() => [FeedbackNoteType], {
    description: 'Puts deprecated notes back. All or none. Role: reviewer.',
  })
  async restoreNotes(
    @Ctx() context: GraphqlContext,
    @Arg('ids', () => [ID], { description: "The notes' ids." }) ids: string[],
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('reason', () => String, { description: 'Why; kept in the audit log.' }) reason: string,
  ): Promise<FeedbackNoteType[]> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    context.loaders.clear();
    return toTypes(await context.useCases.commands.restore(context.caller, named, ids, reason));
  }

  @Mutation(() => FeedbackNoteType, {
    description:
      "For law and leaked secrets: the note's texts and vectors are destroyed; id, audit events and the reason stay. Cannot be undone. Role: admin.",
  })
  async eraseNote(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The note's id." }) id: string,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('reason', () => String, { description: 'Why; kept in the audit log. Never the secret itself.' })
    reason: string,
  ): Promise<FeedbackNoteType> {
    requireRole(context.caller, 'admin');
    const named = requireNamespace(context.caller, namespace);
    context.loaders.clear();
    return new FeedbackNoteType(await context.useCases.commands.erase(context.caller, named, id, reason));
  }
}
