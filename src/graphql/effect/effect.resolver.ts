import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import { requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { EffectReportType } from './effect.type.js';

@Resolver()
export class EffectResolver {
  @Query(() => EffectReportType, {
    description:
      'What notes do to the share of right checks, from answers that went without one of them at random (setting withhold-share). Role: reviewer.',
  })
  async noteEffects(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, {
      nullable: true,
      defaultValue: DEFAULT_NAMESPACE,
      description: "The notes' namespace.",
    })
    namespace: string | null | undefined,
    @Arg('first', () => Int, { nullable: true, defaultValue: 20, description: 'Notes at most, 1…200.' })
    first?: number | null,
  ): Promise<EffectReportType> {
    requireRole(context.caller, 'reviewer');
    const named = requireNamespace(context.caller, namespace);
    return context.useCases.notes.effects(named, first ?? 20);
  }

  @Mutation(() => Boolean, {
    description:
      'Says whether the check that an answer was given to came out right, with its lessons or without. False where it had been said before. Role: reader, since checkers report.',
  })
  async recordAnswer(
    @Ctx() context: GraphqlContext,
    @Arg('receiptId', () => ID, { description: "The retrieval's id." }) receiptId: string,
    @Arg('correct', () => Boolean, { description: 'Whether the check came out right.' }) correct: boolean,
    @Arg('comment', () => String, { nullable: true, description: 'Why; kept in the audit log.' })
    comment?: string | null,
  ): Promise<boolean> {
    requireRole(context.caller, 'reader');
    return context.useCases.commands.recordAnswer(context.caller, receiptId, correct, comment ?? undefined);
  }
}
