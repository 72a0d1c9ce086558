import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import type { Instant } from '../../domain/note.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import { requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import {
  DeprecationReportType,
  InfluenceType,
  readSourceFilter,
  SourceFilterInput,
} from './influence.type.js';

const NAMESPACE_OPTIONS = {
  nullable: true,
  defaultValue: DEFAULT_NAMESPACE,
  description: "The notes' namespace.",
} as const;

@Resolver()
export class InfluenceResolver {
  @Query(() => InfluenceType, {
    description:
      'Which answers notes influenced: by note, by a source such as an author or an import, or by time alone. Role: reviewer.',
  })
  async influence(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('noteIds', () => [ID], { nullable: true, description: 'These notes.' })
    noteIds?: string[] | null,
    @Arg('source', () => SourceFilterInput, { nullable: true, description: 'Or notes with such a source.' })
    source?: SourceFilterInput | null,
    @Arg('from', () => DateTimeScalar, { nullable: true, description: 'Answers at this instant or later.' })
    from?: Instant | null,
    @Arg('to', () => DateTimeScalar, { nullable: true, description: 'Answers before this instant.' })
    to?: Instant | null,
    @Arg('first', () => Int, { nullable: true, defaultValue: 20, description: 'Answers to list, 1…200.' })
    first?: number | null,
  ): Promise<InfluenceType> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    return context.useCases.notes.influence(
      {
        namespace: named,
        noteIds: noteIds ?? undefined,
        source: readSourceFilter(source),
        from: from ?? undefined,
        to: to ?? undefined,
      },
      first ?? 20,
    );
  }

  @Mutation(() => DeprecationReportType, {
    description:
      'Takes every note out of retrieval that has such a source: an author, a tool, an import. Role: reviewer.',
  })
  async deprecateBySource(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, NAMESPACE_OPTIONS) namespace: string | null | undefined,
    @Arg('source', () => SourceFilterInput, { description: 'At least one part must be given.' })
    source: SourceFilterInput,
    @Arg('reason', () => String, { description: 'Why; kept in the audit log.' }) reason: string,
    @Arg('dryRun', () => Boolean, { defaultValue: true, description: 'Only say what would be done.' })
    dryRun: boolean,
  ): Promise<DeprecationReportType> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    context.loaders.clear();
    return context.useCases.commands.deprecateBySource(context.caller, {
      namespace: named,
      source: readSourceFilter(source),
      reason,
      dryRun,
    });
  }
}
