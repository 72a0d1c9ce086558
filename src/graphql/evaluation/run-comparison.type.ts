import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { MeasureChange, RunCase, RunComparison, RunQueryChange } from '../../ports/evaluations.js';
import { MetricValueType, metricList } from './metric-value.type.js';

@ObjectType('EvaluatedQuery', {
  description: 'What one golden query got in a run; its text stands in the golden set only.',
  simpleResolvers: true,
})
export class EvaluatedQueryType {
  @Field(() => ID, { description: "The query's id in the golden set." })
  readonly id: string;
  @Field(() => String, { description: '`tune` or `test`.' })
  readonly half: string;
  @Field(() => String, { description: '`any` where the query names none.' })
  readonly taskType: string;
  @Field(() => [ID], { description: 'Notes that it should get.' })
  readonly expected: readonly string[];
  @Field(() => [ID], { description: 'Notes that it got, best first.' })
  readonly answered: readonly string[];
  @Field(() => [MetricValueType], { description: 'Only the measures that are defined for it.' })
  readonly metrics: readonly MetricValueType[];

  constructor(one: RunCase) {
    this.id = one.id;
    this.half = one.half;
    this.taskType = one.taskType;
    this.expected = one.expected;
    this.answered = one.answered;
    this.metrics = metricList(one.measures);
  }
}

@ObjectType('MeasureChange', {
  description: 'One measure in two runs, paired by query.',
  simpleResolvers: true,
})
export class MeasureChangeType implements MeasureChange {
  @Field(() => String, { description: 'Such as `recallAt3`.' })
  readonly name!: string;
  @Field(() => Int, { description: 'Queries that both runs have and the measure is defined for.' })
  readonly pairs!: number;
  @Field(() => Float, { description: 'Mean of the first run.' })
  readonly before!: number;
  @Field(() => Float, { description: 'Mean of the second run.' })
  readonly after!: number;
  @Field(() => Float, { description: 'Lower bound of after − before, 95%, paired bootstrap.' })
  readonly low!: number;
  @Field(() => Float, { description: 'Upper bound of after − before.' })
  readonly high!: number;
  @Field(() => Float, {
    description: 'Paired permutation test, two-sided, not adjusted for several measures.',
  })
  readonly pValue!: number;
  @Field(() => Float, { description: 'What a set of this size finds in 80 of 100 cases.' })
  readonly detectable!: number;
}

@ObjectType('QueryChange', {
  description: 'A query that got better or worse from one run to another.',
  simpleResolvers: true,
})
export class QueryChangeType implements RunQueryChange {
  @Field(() => ID, { description: "The query's id in the golden set." })
  readonly id!: string;
  @Field(() => [String], { description: 'Measures in which it got worse.' })
  readonly worse!: readonly string[];
  @Field(() => [String], { description: 'Measures in which it got better.' })
  readonly better!: readonly string[];
  @Field(() => [ID], { description: 'Notes that it should get.' })
  readonly expected!: readonly string[];
  @Field(() => [ID], { description: 'Notes that it got in the first run.' })
  readonly before!: readonly string[];
  @Field(() => [ID], { description: 'Notes that it got in the second run.' })
  readonly after!: readonly string[];
}

@ObjectType('RunComparison', { description: 'Two evaluations, query by query.', simpleResolvers: true })
export class RunComparisonType implements RunComparison {
  @Field(() => String, { description: '`test`, `tune` or `all`.' })
  readonly half!: RunComparison['half'];
  @Field(() => Boolean, { description: 'Whether both ran the same version of the golden set.' })
  readonly sameGoldenSet!: boolean;
  @Field(() => [MeasureChangeType], { description: 'Every measure that both runs have.' })
  readonly measures!: readonly MeasureChange[];
  @Field(() => [QueryChangeType], { description: 'Queries that got better or worse.' })
  readonly changes!: readonly RunQueryChange[];
  @Field(() => [ID], { description: 'Queries of only one of the runs: they take no part.' })
  readonly unpaired!: readonly string[];
}
