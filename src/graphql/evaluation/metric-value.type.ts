import { Field, Float, ObjectType } from 'type-graphql';
import type { MetricValues } from '../../ports/evaluations.js';

@ObjectType('MetricValue', { description: 'One measure of an evaluation.', simpleResolvers: true })
export class MetricValueType {
  @Field(() => String, { description: 'Such as `recallAt3`, `mrr`, `answeredRight` or `abstentionRate`.' })
  readonly name!: string;
  @Field(() => Float, { description: 'Mean over the queries that it is defined for; counts are whole.' })
  readonly value!: number;
}

export function metricList(values: MetricValues): readonly MetricValueType[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
