import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { Instant } from '../../domain/note.js';
import { renderSweepMarkdown, renderSweepPlots } from '../../evaluation/sweep/render-sweep.js';
import { toSweepReport } from '../../evaluation/sweep/sweep-runs.js';
import type { SweepRun, SweepRunRow } from '../../ports/sweep-runs.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { MetricValueType, metricList } from './metric-value.type.js';

@ObjectType('SweepRow', { description: 'One way to answer, and what it gave.', simpleResolvers: true })
export class SweepRowType {
  @Field(() => String, {
    description: '`stages`, `lexicalShare`, `candidateK`, `finalK`, `threshold` or `efSearch`.',
  })
  readonly group: string;
  @Field(() => String, { description: 'The stage or the value of the setting.' })
  readonly name: string;
  @Field(() => Boolean, { description: 'Whether this is what ships.' })
  readonly shipped: boolean;
  @Field(() => [MetricValueType], { description: 'The half to choose on.' })
  readonly tune: readonly MetricValueType[];
  @Field(() => [MetricValueType], { description: 'The half to quote.' })
  readonly test: readonly MetricValueType[];
  @Field(() => Float, {
    nullable: true,
    description: "Of nDCG@10 on the tuning half against the group's shipped row; null for that row.",
  })
  readonly pValue: number | undefined;
  @Field(() => Float, { description: 'Median time of a query without its embedding.' })
  readonly medianMs: number;

  constructor(row: SweepRunRow) {
    this.group = row.group;
    this.name = row.name;
    this.shipped = row.shipped;
    this.tune = metricList(row.tune);
    this.test = metricList(row.test);
    this.pValue = row.pValue;
    this.medianMs = row.medianMs;
  }
}

@ObjectType('SweepPlot', { description: 'A finished plot.', simpleResolvers: true })
export class SweepPlotType {
  @Field(() => String, { description: 'File name.' })
  readonly name!: string;
  @Field(() => String, { description: 'SVG; loads nothing.' })
  readonly svg!: string;
}

@ObjectType('SweepRun', {
  description: "Stages and settings tried in turn on a namespace's golden set.",
})
export class SweepRunType {
  readonly #run: SweepRun;
  @Field(() => ID, { description: 'Unique over all sweeps.' })
  readonly id: string;
  @Field(() => String, { description: 'Whose golden set.' })
  readonly namespace: string;
  @Field(() => DateTimeScalar, { description: 'When it ended.' })
  readonly createdAt: Instant;
  @Field(() => String, { description: 'Which version of the golden set.' })
  readonly goldenDigest: string;
  @Field(() => String, { description: 'Id of the embedding model.' })
  readonly embeddingModel: string;
  @Field(() => String, { description: 'What the times belong to.' })
  readonly machine: string;
  @Field(() => Int, { description: 'Queries of both halves.' })
  readonly queries: number;

  constructor(run: SweepRun) {
    this.#run = run;
    this.id = run.id;
    this.namespace = run.namespace;
    this.createdAt = run.createdAt;
    this.goldenDigest = run.goldenDigest;
    this.embeddingModel = run.embeddingModel;
    this.machine = run.machine;
    this.queries = run.queries;
  }

  @Field(() => [SweepRowType], { description: 'In the order in which they were tried.' })
  rows(): SweepRowType[] {
    return this.#run.rows.map((row) => new SweepRowType(row));
  }

  @Field(() => String, { description: 'The table, for a pull request.' })
  markdown(): string {
    return renderSweepMarkdown(toSweepReport(this.#run));
  }

  @Field(() => [SweepPlotType], {
    description:
      'Quality by time, and right answers by wrong ones, with what no other setting beats in both.',
  })
  plots(): SweepPlotType[] {
    return Object.entries(renderSweepPlots(toSweepReport(this.#run))).map(([name, svg]) => ({ name, svg }));
  }
}
