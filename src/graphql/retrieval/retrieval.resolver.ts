import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { ErrataError } from '../../domain/errors.js';
import type { NoteId } from '../../domain/note.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import type { Verdict } from '../../ports/use-cases.js';
import { grantedScope, requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { VerdictEnum } from '../enums.js';
import { readPageSize } from '../paging/page-request.js';
import { BuildPromptInputType, RetrieveInputType, readBuildPrompt, readRetrieve } from './retrieval.input.js';
import { PromptBlockType, RetrievalType, ScoredNoteType } from './retrieval.type.js';

const DEFAULT_SIMILAR = 5;

@Resolver()
export class RetrievalResolver {
  @Query(() => RetrievalType, {
    description:
      'The lessons that apply to what is about to be judged: at most finalK, possibly none. Leaves a receipt.',
  })
  async retrieve(
    @Ctx() context: GraphqlContext,
    @Arg('input', () => RetrieveInputType, { description: 'What to look for, and where.' })
    input: RetrieveInputType,
  ): Promise<RetrievalType> {
    const { caller, signal, useCases } = context;
    requireRole(caller, 'reader');
    return new RetrievalType(
      await useCases.retrieval.retrieve(caller, readRetrieve(caller, input), { signal }),
    );
  }

  @Query(() => PromptBlockType, {
    description: 'Retrieves and puts the lessons into a prompt that is safe to paste.',
  })
  async buildPrompt(
    @Ctx() context: GraphqlContext,
    @Arg('input', () => BuildPromptInputType, { description: 'What to retrieve and what to put around it.' })
    input: BuildPromptInputType,
  ): Promise<PromptBlockType> {
    const { caller, signal, useCases } = context;
    requireRole(caller, 'reader');
    return new PromptBlockType(
      await useCases.retrieval.buildPrompt(caller, readBuildPrompt(caller, input), { signal }),
    );
  }

  @Query(() => [ScoredNoteType], { description: 'Notes near a note, best first, the note itself left out.' })
  async similarNotes(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The note's id." }) id: string,
    @Arg('namespace', () => String, {
      nullable: true,
      defaultValue: DEFAULT_NAMESPACE,
      description: "The note's namespace.",
    })
    namespace?: string | null,
    @Arg('first', () => Int, {
      nullable: true,
      defaultValue: DEFAULT_SIMILAR,
      description: 'How many at most, 1…200.',
    })
    first?: number | null,
  ): Promise<ScoredNoteType[]> {
    requireRole(context.caller, 'reader');
    const named = requireNamespace(context.caller, namespace);
    const limit = readPageSize('first', first ?? DEFAULT_SIMILAR);
    const similar = await context.useCases.notes.similar(named, id, limit);
    return similar.map((scored) => new ScoredNoteType(scored));
  }

  @Query(() => RetrievalType, {
    nullable: true,
    description:
      'A stored answer with its notes as they are now; null where unknown, pruned, or of a namespace that the key is not granted.',
  })
  async receipt(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The retrieval's id." }) id: string,
  ): Promise<RetrievalType | undefined> {
    requireRole(context.caller, 'reader');
    const found = await context.useCases.retrieval.receipt(grantedScope(context.caller), id);
    return found === undefined ? undefined : new RetrievalType(found);
  }

  @Mutation(() => Boolean, {
    description:
      'Says how a retrieved lesson turned out; without a noteId the verdict counts for every note of the answer. False where nothing was recorded. Role: reader, since checkers report.',
  })
  async recordOutcome(
    @Ctx() context: GraphqlContext,
    @Arg('receiptId', () => ID, { description: "The retrieval's id." }) receiptId: string,
    @Arg('noteId', () => ID, { nullable: true, description: 'One note of the answer; none: all of them.' })
    noteId: string | null | undefined,
    @Arg('verdict', () => VerdictEnum, { description: 'How it turned out.' }) verdict: Verdict,
    @Arg('comment', () => String, { nullable: true, description: 'Why; kept in the audit log.' })
    comment?: string | null,
  ): Promise<boolean> {
    requireRole(context.caller, 'reader');
    const noteIds = await outcomeNotes(context, receiptId, noteId ?? undefined);
    context.loaders.clear();
    let recorded = false;
    // One after the other: the notes of one answer are few, and writes to one store queue anyway.
    for (const id of noteIds) {
      const done = await context.useCases.commands.recordOutcome(
        context.caller,
        receiptId,
        id,
        verdict,
        comment ?? undefined,
      );
      recorded ||= done;
    }
    return recorded;
  }
}

/**
 * The notes that a verdict is about. The receipt is looked up within the key's grants first, except where the key may see
 * everything and named the note: then the use case's own look-up is enough.
 *
 * Errors: `RECEIPT_NOT_FOUND`.
 */
async function outcomeNotes(
  context: GraphqlContext,
  receiptId: string,
  noteId: NoteId | undefined,
): Promise<readonly NoteId[]> {
  const scope = grantedScope(context.caller);
  if (scope === 'all' && noteId !== undefined) return [noteId];
  const receipt = await context.useCases.retrieval.receipt(scope, receiptId);
  if (receipt === undefined) {
    throw new ErrataError('RECEIPT_NOT_FOUND', 'Expected a known receipt for receiptId, received another id');
  }
  return noteId === undefined ? receipt.notes.map(({ note }) => note.id) : [noteId];
}
