import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { scopeFor } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { StatsType } from './stats.type.js';

@Resolver()
export class StatsResolver {
  @Query(() => StatsType, { description: 'Counts and health figures for dashboards and CI.' })
  async stats(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, {
      nullable: true,
      description: 'None: every namespace that the key is granted.',
    })
    namespace?: string | null,
  ): Promise<StatsType> {
    requireRole(context.caller, 'reader');
    return new StatsType(await context.useCases.stats(scopeFor(context.caller, namespace)));
  }
}
