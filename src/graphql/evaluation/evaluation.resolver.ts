import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import { requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { readPageSize } from '../paging/page-request.js';
import { CalibrationType } from './calibration.type.js';
import { GoldenQueryInputType, readGoldenQuery } from './evaluation.input.js';
import { EvaluationRunType, GoldenSetType } from './evaluation.type.js';

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
