import { Arg, Ctx, Int, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { readPageSize } from '../paging/page-request.js';
import { SweepRunType } from './sweep.type.js';

/** A sweep holds some forty rows of fifteen measures. */
const DEFAULT_SWEEPS = 1;

@Resolver()
export class SweepResolver {
  @Query(() => [SweepRunType], {
    description: 'Sweeps of a golden set, newest first; the last 20 are kept. Start one with job SWEEP.',
  })
  async sweeps(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
    @Arg('first', () => Int, {
      nullable: true,
      defaultValue: DEFAULT_SWEEPS,
      description: 'How many at most, 1…200.',
    })
    first?: number | null,
  ): Promise<SweepRunType[]> {
    const { caller, useCases } = context;
    requireRole(caller, 'reader');
    const named = requireNamespace(caller, namespace);
    const runs = await useCases.evaluations.sweeps(named, readPageSize('first', first ?? DEFAULT_SWEEPS));
    return runs.map((run) => new SweepRunType(run));
  }
}
