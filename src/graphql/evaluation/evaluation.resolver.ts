import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { readPageSize } from '../paging/page-request.js';
import { CalibrationType } from './calibration.type.js';
import { EvaluationRunType } from './evaluation.type.js';
import { EvaluatedQueryType, RunComparisonType } from './run-comparison.type.js';

const DEFAULT_RUNS = 10;

@Resolver()
export class EvaluationResolver {
  @Query(() => [EvaluationRunType], {
    description:
      'Evaluations of a golden set, newest first; the last 50 are kept. Start one with job EVALUATION.',
  })
  async evaluationRuns(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
    @Arg('first', () => Int, {
      nullable: true,
      defaultValue: DEFAULT_RUNS,
      description: 'How many at most, 1…200.',
    })
    first?: number | null,
  ): Promise<EvaluationRunType[]> {
    const { caller, useCases } = context;
    requireRole(caller, 'reader');
    const named = requireNamespace(caller, namespace);
    const runs = await useCases.evaluations.runs(named, readPageSize('first', first ?? DEFAULT_RUNS));
    return runs.map((run) => new EvaluationRunType(run));
  }

  @Query(() => [EvaluatedQueryType], {
    description:
      "A run's queries with what they got; kept for the newest 10 runs of at most 2,000 queries. Error: INVALID_INPUT for others.",
  })
  async evaluationCases(
    @Ctx() context: GraphqlContext,
    @Arg('runId', () => ID, { description: 'Id of the run.' }) runId: string,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
  ): Promise<EvaluatedQueryType[]> {
    const { caller, useCases } = context;
    requireRole(caller, 'reader');
    const cases = await useCases.evaluations.cases(requireNamespace(caller, namespace), runId);
    return cases.map((one) => new EvaluatedQueryType(one));
  }

  @Query(() => RunComparisonType, {
    description:
      'Two runs compared query by query: paired bootstrap and permutation test. Error: INVALID_INPUT where their queries are not kept.',
  })
  compareRuns(
    @Ctx() context: GraphqlContext,
    @Arg('before', () => ID, { description: 'Id of the earlier run.' }) before: string,
    @Arg('after', () => ID, { description: 'Id of the later run.' }) after: string,
    @Arg('half', () => String, {
      nullable: true,
      defaultValue: 'test',
      description: '`test`, `tune` or `all`.',
    })
    half?: string | null,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
  ): Promise<RunComparisonType> {
    const { caller, useCases } = context;
    requireRole(caller, 'reader');
    const named = requireNamespace(caller, namespace);
    return useCases.evaluations.compareRuns(named, before, after, half ?? 'test');
  }

  @Query(() => [CalibrationType], {
    description:
      "A namespace's fitted thresholds, one an origin of scores. Fit them with job CALIBRATION; none: those that are shipped.",
  })
  async calibrations(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
  ): Promise<CalibrationType[]> {
    const { caller, useCases } = context;
    requireRole(caller, 'reader');
    const list = await useCases.evaluations.calibrations(requireNamespace(caller, namespace));
    return list.map((calibration) => new CalibrationType(calibration));
  }

  @Mutation(() => Boolean, {
    description: 'Back to the thresholds that are shipped; false where that was so already. Role: admin.',
  })
  clearCalibrations(
    @Ctx() context: GraphqlContext,
    @Arg('namespace', () => String, { nullable: true, description: 'None: `default`.' })
    namespace?: string | null,
  ): Promise<boolean> {
    const { caller, useCases } = context;
    requireRole(caller, 'admin');
    return useCases.evaluations.clearCalibrations(caller, requireNamespace(caller, namespace));
  }
}
