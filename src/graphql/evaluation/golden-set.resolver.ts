import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { GoldenQueryInputType, readGoldenQuery } from './evaluation.input.js';
import { GoldenSetType } from './evaluation.type.js';

@Resolver()
export class GoldenSetResolver {
  @Query(() => GoldenSetType, {
    nullable: true,
    description: "A namespace's golden set; null where it has none.",
  })
  goldenSet(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
  ): Promise<GoldenSetType | undefined> {
    const { caller, useCases } = context;
    requireRole(caller, 'reader');
    return useCases.evaluations.goldenSet(requireNamespace(caller, namespace));
  }

  @Mutation(() => GoldenSetType, {
    description: 'Adds a judged query to the golden set, or replaces its judgement. Role: reviewer.',
  })
  addGoldenQuery(
    @Ctx() context: GraphqlContext,
    @Arg('input', () => GoldenQueryInputType, { description: 'The query and the notes that it should get.' })
    input: GoldenQueryInputType,
  ): Promise<GoldenSetType> {
    const { caller, useCases } = context;
    requireRole(caller, 'reviewer');
    return useCases.evaluations.addGoldenQuery(caller, readGoldenQuery(caller, input));
  }

  @Mutation(() => GoldenSetType, {
    description:
      'Replaces the golden set; earlier versions stay readable. Errors: INVALID_FILE and NOTE_NOT_FOUND with lines, VERSION_CONFLICT. Role: admin.',
  })
  saveGoldenSet(
    @Ctx() context: GraphqlContext,
    @Arg('jsonl', () => String, { description: 'One query a line, notes by id.' }) jsonl: string,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
    @Arg('ifDigest', () => String, {
      nullable: true,
      description: 'Only where this version stands; null: only where none does; left out: whatever stands.',
    })
    ifDigest?: string | null,
    @Arg('allowUnknownNotes', () => Boolean, {
      nullable: true,
      defaultValue: false,
      description: 'Also where the namespace lacks expected notes: such queries cannot be answered right.',
    })
    allowUnknownNotes?: boolean | null,
  ): Promise<GoldenSetType> {
    const { caller, useCases } = context;
    requireRole(caller, 'admin');
    return useCases.evaluations.saveGoldenSet(caller, requireNamespace(caller, namespace), jsonl, {
      ifDigest,
      allowUnknownNotes: allowUnknownNotes ?? false,
    });
  }

  @Mutation(() => GoldenSetType, {
    description:
      'Takes one query out of the golden set. Errors: INVALID_INPUT for an unknown or the last one, VERSION_CONFLICT. Role: admin.',
  })
  removeGoldenQuery(
    @Ctx() context: GraphqlContext,
    @Arg('id', () => ID, { description: "The query's id in the set." }) id: string,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
    @Arg('ifDigest', () => String, { nullable: true, description: 'Only where this version stands.' })
    ifDigest?: string | null,
  ): Promise<GoldenSetType> {
    const { caller, useCases } = context;
    requireRole(caller, 'admin');
    return useCases.evaluations.removeGoldenQuery(caller, requireNamespace(caller, namespace), id, {
      ifDigest: ifDigest ?? undefined,
    });
  }
}
