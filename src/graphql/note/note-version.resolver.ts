import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import { requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { FeedbackNoteType } from './note.type.js';
import { NoteVersionType } from './note-version.type.js';

const NAMESPACE_OPTIONS = {
  nullable: true,
  defaultValue: DEFAULT_NAMESPACE,
  description: "The note's namespace.",
} as const;

@Resolver()
export class NoteVersionResolver {
  @Query(() => [NoteVersionType], {
    description:
      "A note's versions, newest first, each with what it changed, who did it and why. Role: reviewer.",
  })
  async noteVersions(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The note's id." }) id: string,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('first', () => Int, { nullable: true, defaultValue: 20, description: 'How many at most, 1…200.' })
    first?: number | null,
  ): Promise<NoteVersionType[]> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    const entries = await context.useCases.notes.versions(named, id, first ?? 20);
    return entries.map((entry) => new NoteVersionType(entry));
  }

  @Mutation(() => FeedbackNoteType, {
    description:
      'Gives a note the attributes, impact and dates of an earlier version, as a new version; its status stays. Role: reviewer.',
  })
  async restoreNoteVersion(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The note's id." }) id: string,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('version', () => Int, { description: 'An earlier version, as `noteVersions` lists it.' })
    version: number,
    @Arg('reason', () => String, { description: 'Why; kept in the audit log.' }) reason: string,
  ): Promise<FeedbackNoteType> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    context.loaders.clear();
    return new FeedbackNoteType(
      await context.useCases.commands.restoreVersion(context.caller, named, id, version, reason),
    );
  }
}
