import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { Instant } from '../../domain/note.js';
import type {
  AnswerCases,
  AnswerChange,
  AnswerNoteEffect,
  AnswerRate,
  AnswerRun,
} from '../../ports/answer-runs.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { ShareType } from '../share.type.js';

@ObjectType('AnswerCases', {
  description: "The items that a namespace's checker is measured on; their texts are not given back.",
  simpleResolvers: true,
})
export class AnswerCasesType implements AnswerCases {
  @Field(() => String, { description: 'Whose.' })
  readonly namespace!: string;
  @Field(() => String, { description: 'Which version: first 16 hex digits of a SHA-256.' })
  readonly digest!: string;
  @Field(() => Int, { description: 'All.' })
  readonly cases!: number;
  @Field(() => Int, { description: 'Those with something to find.' })
  readonly positives!: number;
  @Field(() => Int, { description: 'Those with an item, which a live checker can be asked about.' })
  readonly askable!: number;
}

@ObjectType('AnswerRate', {
  description: 'One error rate of a checker without and with lessons, paired by case.',
})
export class AnswerRateType {
  @Field(() => ShareType, { description: 'Without lessons.' })
  readonly before: ShareType;
  @Field(() => ShareType, { description: 'With lessons.' })
  readonly after: ShareType;
  @Field(() => Float, { description: 'after − before; below 0 is better.' })
  readonly difference: number;
  @Field(() => Float, { description: 'Lower bound, 95%, paired bootstrap.' })
  readonly low: number;
  @Field(() => Float, { description: 'Upper bound.' })
  readonly high: number;
  @Field(() => Int, { description: 'Cases that went from wrong to right.' })
  readonly fixed: number;
  @Field(() => Int, { description: 'Cases that went from right to wrong.' })
  readonly broken: number;
  @Field(() => Float, { description: 'Exact McNemar test, two-sided, not adjusted.' })
  readonly pValue: number;
  @Field(() => Float, { description: 'What a set of this size finds in 80 of 100 cases.' })
  readonly detectable: number;

  constructor({ difference, ...rate }: AnswerRate) {
    this.before = rate.before;
    this.after = rate.after;
    this.difference = difference.estimate;
    this.low = difference.low;
    this.high = difference.high;
    this.fixed = rate.fixed;
    this.broken = rate.broken;
    this.pValue = rate.pValue;
    this.detectable = rate.detectable;
  }
}

@ObjectType('AnswerRatesOfTaskType', { description: 'The rates of one task type.' })
export class AnswerRatesOfTaskTypeType {
  @Field(() => String, { description: '`any` where a case names none.' })
  readonly taskType!: string;
  @Field(() => AnswerRateType, { description: 'Of the cases with nothing to find, those that were flagged.' })
  readonly falsePositives!: AnswerRateType;
  @Field(() => AnswerRateType, {
    description: 'Of the cases with something to find, those that were passed over.',
  })
  readonly falseNegatives!: AnswerRateType;
}

@ObjectType('AnswerChange', { description: 'A case whose answer lessons changed.', simpleResolvers: true })
export class AnswerChangeType implements AnswerChange {
  @Field(() => ID, { description: "The case's id." })
  readonly id!: string;
  @Field(() => String, { description: '`any` where it names none.' })
  readonly taskType!: string;
  @Field(() => Boolean, { description: 'Whether there is something to find.' })
  readonly truth!: boolean;
  @Field(() => Boolean, { description: 'Whether it was flagged without lessons.' })
  readonly before!: boolean;
  @Field(() => Boolean, { description: 'Whether it was flagged with lessons.' })
  readonly after!: boolean;
  @Field(() => [ID], { description: 'Lessons in the prompt, best first.' })
  readonly notes!: readonly string[];
}

@ObjectType('AnswerNoteEffect', {
  description: 'What a note had to do with changed answers.',
  simpleResolvers: true,
})
export class AnswerNoteEffectType implements AnswerNoteEffect {
  @Field(() => ID, { description: "The note's id." })
  readonly noteId!: string;
  @Field(() => Int, { description: 'Cases whose prompt held it.' })
  readonly injected!: number;
  @Field(() => [ID], { description: 'Cases that it alone can have turned right.' })
  readonly fixed!: readonly string[];
  @Field(() => [ID], { description: 'Cases that it alone can have turned wrong.' })
  readonly broken!: readonly string[];
  @Field(() => [ID], { description: 'Changed cases with several notes that were not told apart.' })
  readonly shared!: readonly string[];
}

@ObjectType('AnswerSpending', { description: 'What a live run took.', simpleResolvers: true })
export class AnswerSpendingType {
  @Field(() => Int, { description: 'Calls of the chat service.' })
  readonly calls!: number;
  @Field(() => Int, { description: 'Tokens sent.' })
  readonly promptTokens!: number;
  @Field(() => Int, { description: 'Tokens received.' })
  readonly completionTokens!: number;
  @Field(() => Float, { description: 'In the currency of the prices.' })
  readonly cost!: number;
}

@ObjectType('AnswerRun', { description: "A checker's answers without and with lessons, compared." })
export class AnswerRunType {
  @Field(() => ID, { description: 'Unique over all comparisons.' })
  readonly id: string;
  @Field(() => String, { description: 'Whose lessons.' })
  readonly namespace: string;
  @Field(() => DateTimeScalar, { description: 'When it ended.' })
  readonly createdAt: Instant;
  @Field(() => String, { description: 'Name of the key, or the job.' })
  readonly createdBy: string;
  @Field(() => String, { nullable: true, description: 'The model that was asked; null: recorded answers.' })
  readonly checker: string | undefined;
  @Field(() => String, { description: 'Which version of the cases.' })
  readonly casesDigest: string;
  @Field(() => Int, { description: 'Cases with both answers.' })
  readonly pairs: number;
  @Field(() => String, {
    description: '`better`, `worse` or `same`, looking at both rates at the 5% level (McNemar, Holm).',
  })
  readonly verdict: string;
  @Field(() => AnswerRateType, { description: 'Of the cases with nothing to find, those that were flagged.' })
  readonly falsePositives: AnswerRateType;
  @Field(() => AnswerRateType, {
    description: 'Of the cases with something to find, those that were passed over.',
  })
  readonly falseNegatives: AnswerRateType;
  @Field(() => AnswerRateType, { description: 'Wrong either way.' })
  readonly errors: AnswerRateType;
  @Field(() => [AnswerRatesOfTaskTypeType], { description: 'By task type.' })
  readonly byTaskType: readonly AnswerRatesOfTaskTypeType[];
  @Field(() => ShareType, { description: 'Of the cases with a lesson, those whose answer changed.' })
  readonly utilisation: ShareType;
  @Field(() => ShareType, { description: 'Of those that were right before, the ones that turned wrong.' })
  readonly noiseSensitivity: ShareType;
  @Field(() => [AnswerChangeType], { description: 'Cases that lessons turned wrong; at most 1,000.' })
  readonly regressions: readonly AnswerChange[];
  @Field(() => [AnswerChangeType], { description: 'Cases that lessons turned right; at most 1,000.' })
  readonly fixes: readonly AnswerChange[];
  @Field(() => [AnswerNoteEffectType], { description: 'The most harmful first; at most 200.' })
  readonly noteEffects: readonly AnswerNoteEffect[];
  @Field(() => Int, { description: 'Cases without both answers.' })
  readonly missing: number;
  @Field(() => Int, { description: 'Cases with an answer that could not be read.' })
  readonly unreadable: number;
  @Field(() => AnswerSpendingType, { nullable: true, description: 'Null: recorded answers.' })
  readonly spending: AnswerSpendingType | undefined;
  @Field(() => String, { nullable: true, description: 'Why not every case was asked.' })
  readonly stopped: string | undefined;

  constructor(run: AnswerRun) {
    this.id = run.id;
    this.namespace = run.namespace;
    this.createdAt = run.createdAt;
    this.createdBy = run.createdBy;
    this.checker = run.checker;
    this.casesDigest = run.casesDigest;
    this.pairs = run.pairs;
    this.verdict = run.verdict;
    this.falsePositives = new AnswerRateType(run.falsePositives);
    this.falseNegatives = new AnswerRateType(run.falseNegatives);
    this.errors = new AnswerRateType(run.errors);
    this.byTaskType = Object.entries(run.byTaskType).map(([taskType, rates]) => ({
      taskType,
      falsePositives: new AnswerRateType(rates.falsePositives),
      falseNegatives: new AnswerRateType(rates.falseNegatives),
    }));
    this.utilisation = run.utilisation;
    this.noiseSensitivity = run.noiseSensitivity;
    this.regressions = run.regressions;
    this.fixes = run.fixes;
    this.noteEffects = run.noteEffects;
    this.missing = run.missing;
    this.unreadable = run.unreadable;
    this.spending = run.spending;
    this.stopped = run.stopped;
  }
}
