import { Field, Float, Int, ObjectType } from 'type-graphql';
import type { Calibration, ConformalThreshold, HeldOutFigures } from '../../domain/calibration.js';
import type { Instant } from '../../domain/note.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { ShareType } from '../share.type.js';

@ObjectType('HeldOutFigures', {
  description: 'What a threshold does to queries that nothing was fitted on.',
  simpleResolvers: true,
})
export class HeldOutFiguresType implements HeldOutFigures {
  @Field(() => ShareType, { description: 'Of the queries without an answer, those that got a note.' })
  readonly wronglyInjected!: ShareType;
  @Field(() => ShareType, { description: 'Of the others, those whose answer holds a right note.' })
  readonly answered!: ShareType;
  @Field(() => Float, { description: 'Mean share of the expected notes that were injected.' })
  readonly recall!: number;
}

@ObjectType('CalibratedThreshold', {
  description: 'A threshold and the queries without an answer that it rests on.',
  simpleResolvers: true,
})
export class CalibratedThresholdType implements ConformalThreshold {
  @Field(() => String, { nullable: true, description: 'Null: every task type without one of its own.' })
  readonly taskType: string | undefined;
  @Field(() => Float, { description: 'A note is injected where its score is at least this.' })
  readonly value: number;
  @Field(() => Int, { description: 'Queries without an answer.' })
  readonly queries: number;
  @Field(() => Int, { description: 'How many of them still get a note.' })
  readonly passed: number;

  constructor(taskType: string | undefined, { value, queries, passed }: ConformalThreshold) {
    this.taskType = taskType;
    this.value = value;
    this.queries = queries;
    this.passed = passed;
  }
}

@ObjectType('Calibration', {
  description: 'Thresholds for scores of one origin; refused where models or weights have changed since.',
  simpleResolvers: true,
})
export class CalibrationType {
  @Field(() => String, { description: 'Id of the embedding model.' })
  readonly embeddingModel: string;
  @Field(() => String, { nullable: true, description: 'Id of the reranker; null: for answers without one.' })
  readonly rerankModel: string | null;
  @Field(() => String, { description: '`cosine`, `logit` or `probability`.' })
  readonly scoreScale: string;
  @Field(() => Float, {
    description:
      'At most this share of new queries without an answer gets a note, on average over golden sets.',
  })
  readonly alpha: number;
  @Field(() => String, { description: 'Which version of the golden set.' })
  readonly goldenDigest: string;
  @Field(() => DateTimeScalar, { description: 'When.' })
  readonly createdAt: Instant;
  @Field(() => String, { description: 'Name of the key or job.' })
  readonly createdBy: string;
  @Field(() => [CalibratedThresholdType], { description: 'The pooled one first.' })
  readonly thresholds: readonly CalibratedThresholdType[];
  @Field(() => HeldOutFiguresType, {
    description: 'With these thresholds, on the half that nothing was fitted on.',
  })
  readonly heldOut: HeldOutFiguresType;
  @Field(() => HeldOutFiguresType, { description: 'The same with what was in force before.' })
  readonly heldOutBefore: HeldOutFiguresType;

  constructor(calibration: Calibration) {
    this.embeddingModel = calibration.embeddingModel;
    this.rerankModel = calibration.rerankModel;
    this.scoreScale = calibration.scoreScale;
    this.alpha = calibration.alpha;
    this.goldenDigest = calibration.goldenDigest;
    this.createdAt = calibration.createdAt;
    this.createdBy = calibration.createdBy;
    this.thresholds = [
      new CalibratedThresholdType(undefined, calibration.pooled),
      ...Object.entries(calibration.byTaskType).map(
        ([taskType, own]) => new CalibratedThresholdType(taskType, own),
      ),
    ];
    this.heldOut = calibration.heldOut.after;
    this.heldOutBefore = calibration.heldOut.before;
  }
}
