import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { Instant } from '../../domain/note.js';
import type { EvaluationRun, GoldenSetVersion, SavedGoldenSet } from '../../ports/evaluations.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { MetricIntervalType, MetricValueType, metricList } from './metric-value.type.js';

@ObjectType('MetricGroup', {
  description: 'Measures over the test half, by a property of the query.',
  simpleResolvers: true,
})
export class MetricGroupType {
  @Field(() => String, { description: '`kind`, `taskType`, `language` or `difficulty`.' })
  readonly grouping!: string;
  @Field(() => String, { description: 'Its value.' })
  readonly value!: string;
  @Field(() => [MetricValueType], { description: 'Every measure.' })
  readonly metrics!: readonly MetricValueType[];
}

@ObjectType('EvaluationRun', { description: "One run of a namespace's golden set.", simpleResolvers: true })
export class EvaluationRunType {
  @Field(() => ID, { description: 'Unique over all runs.' })
  readonly id: string;
  @Field(() => String, { description: 'Whose golden set.' })
  readonly namespace: string;
  @Field(() => DateTimeScalar, { description: 'When it ended.' })
  readonly createdAt: Instant;
  @Field(() => String, { description: 'Which version of the golden set.' })
  readonly goldenDigest: string;
  @Field(() => String, { description: 'Id of the embedding model.' })
  readonly embeddingModel: string;
  @Field(() => String, { nullable: true, description: 'Id of the reranker; none: it did not run.' })
  readonly rerankModel: string | undefined;
  @Field(() => String, { description: '`cosine`, `logit` or `probability`.' })
  readonly scoreScale: string;
  @Field(() => Float, { description: 'Used where a task type has none of its own.' })
  readonly threshold: number;
  @Field(() => Int, { description: 'Queries of both halves.' })
  readonly queries: number;
  @Field(() => Float, { description: 'Median time of a query.' })
  readonly medianMs: number;
  @Field(() => Float, { description: '95% of the queries took at most this.' })
  readonly p95Ms: number;
  @Field(() => [MetricValueType], { description: 'Both halves.' })
  readonly all: readonly MetricValueType[];
  @Field(() => [MetricValueType], { description: 'The half that settings are fitted on.' })
  readonly tune: readonly MetricValueType[];
  @Field(() => [MetricValueType], { description: 'The half to quote.' })
  readonly test: readonly MetricValueType[];
  @Field(() => [MetricIntervalType], {
    description: 'Of the test half; empty for runs that an earlier version made.',
  })
  readonly intervals: readonly MetricIntervalType[];
  @Field(() => [MetricGroupType], {
    description: 'The test half by kind, task type, language and difficulty.',
  })
  readonly groups: readonly MetricGroupType[];

  constructor(run: EvaluationRun) {
    this.id = run.id;
    this.namespace = run.namespace;
    this.createdAt = run.createdAt;
    this.goldenDigest = run.goldenDigest;
    this.embeddingModel = run.embeddingModel;
    this.rerankModel = run.rerankModel;
    this.scoreScale = run.scoreScale;
    this.threshold = run.threshold;
    this.queries = run.queries;
    this.medianMs = run.medianMs;
    this.p95Ms = run.p95Ms;
    this.all = metricList(run.all);
    this.tune = metricList(run.tune);
    this.test = metricList(run.test);
    this.intervals = run.intervals ?? [];
    this.groups = run.groups.map(({ grouping, value, metrics }) => ({
      grouping,
      value,
      metrics: metricList(metrics),
    }));
  }
}

@ObjectType('GoldenSetVersion', { description: 'A golden set as it was saved.', simpleResolvers: true })
export class GoldenSetVersionType implements GoldenSetVersion {
  @Field(() => String, { description: 'First 16 hex digits of its SHA-256.' })
  readonly digest!: string;
  @Field(() => Int, { description: 'Queries.' })
  readonly queries!: number;
  @Field(() => DateTimeScalar, { description: 'When.' })
  readonly savedAt!: Instant;
  @Field(() => String, { description: 'Name of the key.' })
  readonly savedBy!: string;
}

@ObjectType('GoldenSet', {
  description: 'Queries with the notes that they should get.',
  simpleResolvers: true,
})
export class GoldenSetType implements SavedGoldenSet {
  @Field(() => String, { description: 'Whose set.' })
  readonly namespace!: string;
  @Field(() => String, { description: 'First 16 hex digits of its SHA-256.' })
  readonly digest!: string;
  @Field(() => Int, { description: 'Queries.' })
  readonly queries!: number;
  @Field(() => Int, { description: 'Queries that a note answers.' })
  readonly answerable!: number;
  @Field(() => DateTimeScalar, { description: 'When it was last changed.' })
  readonly savedAt!: Instant;
  @Field(() => String, { description: 'Name of the key that changed it.' })
  readonly savedBy!: string;
  @Field(() => [GoldenSetVersionType], { description: 'Newest first, 50 at most.' })
  readonly versions!: readonly GoldenSetVersionType[];
}
