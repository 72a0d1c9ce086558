import { Field, Float, ObjectType } from 'type-graphql';
import type { MetricInterval, MetricValues } from '../../ports/evaluations.js';

@ObjectType('MetricValue', { description: 'One measure of an evaluation.', simpleResolvers: true })
export class MetricValueType {
  @Field(() => String, { description: 'Such as `recallAt3`, `mrr`, `answeredRight` or `abstentionRate`.' })
  readonly name!: string;
  @Field(() => Float, { description: 'Mean over the queries that it is defined for; counts are whole.' })
  readonly value!: number;
}

@ObjectType('MetricInterval', {
  description: 'A mean with its 95% bootstrap interval over queries.',
  simpleResolvers: true,
})
export class MetricIntervalType implements MetricInterval {
  @Field(() => String, { description: 'Such as `recallAt3`.' })
  readonly name!: string;
  @Field(() => Float, { description: 'The mean itself.' })
  readonly estimate!: number;
  @Field(() => Float, { description: 'Lower bound.' })
  readonly low!: number;
  @Field(() => Float, { description: 'Upper bound.' })
  readonly high!: number;
}

export function metricList(values: MetricValues): readonly MetricValueType[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
