import { Arg, Ctx, FieldResolver, ID, Int, Query, Resolver, Root } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { ErrataError } from '../../domain/errors.js';
import { NOTE_STATUSES, type NoteStatus } from '../../domain/note.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import type { NoteOrder } from '../../ports/note-store.js';
import { requireNamespace, scopeFor } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { NoteOrderEnum } from '../enums.js';
import { listNotes } from './list-notes.js';
import { NoteFilterInput, readNoteFilter } from './note.input.js';
import { FeedbackNoteType, MergeCandidateType, NoteConnectionType, toNoteType } from './note.type.js';

const QUEUED: readonly NoteStatus[] = NOTE_STATUSES.filter(
  (status) => status === 'PENDING' || status === 'QUARANTINED',
);

/** Errors: `INVALID_INPUT` where a status that is never queued is asked for: an empty page would look like an empty queue. */
function queuedStatuses(asked: readonly NoteStatus[] | undefined): readonly NoteStatus[] {
  if (asked === undefined) return QUEUED;
  if (!asked.every((status) => QUEUED.includes(status))) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected ${QUEUED.join(' or ')} for filter.statuses, received another status`,
      { details: { field: 'filter.statuses' } },
    );
  }
  return asked;
}

@Resolver(() => FeedbackNoteType)
export class NoteResolver {
  @Query(() => FeedbackNoteType, {
    nullable: true,
    description: 'One note, whatever its status; null where there is none.',
  })
  async note(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The note's id." }) id: string,
    @Arg('namespace', () => String, {
      nullable: true,
      defaultValue: DEFAULT_NAMESPACE,
      description: "The note's namespace.",
    })
    namespace?: string | null,
  ): Promise<FeedbackNoteType | undefined> {
    requireRole(context.caller, 'reader');
    const named = requireNamespace(context.caller, namespace);
    return toNoteType(await context.loaders.notes.load({ namespace: named, id }));
  }

  @Query(() => NoteConnectionType, {
    description: 'Notes of every namespace that the key is granted, or of the one that the filter names.',
  })
  notes(
    @Ctx() context: GraphqlContext,
    @Arg('filter', () => NoteFilterInput, { nullable: true, description: 'None: every note.' })
    filter?: NoteFilterInput | null,
    @Arg('orderBy', () => NoteOrderEnum, {
      nullable: true,
      defaultValue: 'CREATED_DESC',
      description: 'Order of the list.',
    })
    orderBy?: NoteOrder | null,
    @Arg('first', () => Int, {
      nullable: true,
      description: 'Page size from the start, 1…200; 20 where neither first nor last is given.',
    })
    first?: number | null,
    @Arg('after', () => String, { nullable: true, description: 'Cursor to start after.' })
    after?: string | null,
    @Arg('last', () => Int, { nullable: true, description: 'Page size from the end, 1…200; not with first.' })
    last?: number | null,
    @Arg('before', () => String, { nullable: true, description: 'Cursor to end before.' })
    before?: string | null,
  ): Promise<NoteConnectionType> {
    requireRole(context.caller, 'reader');
    return listNotes(context, {
      list: 'notes',
      scope: scopeFor(context.caller, filter?.namespace),
      namespace: filter?.namespace,
      filter: readNoteFilter(filter),
      order: orderBy ?? 'CREATED_DESC',
      page: { first, after, last, before },
    });
  }

  @Query(() => NoteConnectionType, {
    description: 'Notes that wait for a decision (PENDING and QUARANTINED), riskiest first.',
  })
  reviewQueue(
    @Ctx() context: GraphqlContext,
    @Arg('filter', () => NoteFilterInput, {
      nullable: true,
      description: 'Narrows the queue; statuses may only hold PENDING and QUARANTINED.',
    })
    filter?: NoteFilterInput | null,
    @Arg('first', () => Int, { nullable: true, defaultValue: 20, description: 'Page size, 1…200.' })
    first?: number | null,
    @Arg('after', () => String, { nullable: true, description: 'Cursor to start after.' })
    after?: string | null,
  ): Promise<NoteConnectionType> {
    requireRole(context.caller, 'reader');
    const narrowed = readNoteFilter(filter);
    return listNotes(context, {
      list: 'reviewQueue',
      scope: scopeFor(context.caller, filter?.namespace),
      namespace: filter?.namespace,
      filter: { ...narrowed, statuses: queuedStatuses(narrowed.statuses) },
      order: 'RISK_DESC',
      page: { first, after },
    });
  }

  @FieldResolver(() => [FeedbackNoteType], {
    description: 'Notes that this one replaced; both stay visible.',
  })
  async supersedes(
    @Root() root: FeedbackNoteType,
    @Ctx() context: GraphqlContext,
  ): Promise<FeedbackNoteType[]> {
    const { namespace, supersedes } = root.note;
    const notes = await Promise.all(supersedes.map((id) => context.loaders.notes.load({ namespace, id })));
    return notes.filter((note) => note !== undefined).map((note) => new FeedbackNoteType(note));
  }

  @FieldResolver(() => FeedbackNoteType, { nullable: true, description: 'The note that replaced this one.' })
  async supersededBy(
    @Root() root: FeedbackNoteType,
    @Ctx() context: GraphqlContext,
  ): Promise<FeedbackNoteType | undefined> {
    const { namespace, supersededBy } = root.note;
    if (supersededBy === undefined) return undefined;
    return toNoteType(await context.loaders.notes.load({ namespace, id: supersededBy }));
  }

  @FieldResolver(() => MergeCandidateType, {
    nullable: true,
    description: 'The near duplicate that made the note wait for review.',
  })
  async mergeCandidate(
    @Root() root: FeedbackNoteType,
    @Ctx() context: GraphqlContext,
  ): Promise<MergeCandidateType | undefined> {
    const { namespace, mergeCandidate } = root.note;
    if (mergeCandidate === undefined) return undefined;
    const note = await context.loaders.notes.load({ namespace, id: mergeCandidate.noteId });
    return new MergeCandidateType(note, mergeCandidate.similarity);
  }
}
