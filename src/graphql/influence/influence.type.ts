import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Instant } from '../../domain/note.js';
import type { SourceFilter } from '../../ports/note-store.js';
import type { DeprecationReport, Influence, InfluencedAnswer } from '../../ports/use-cases.js';
import { DateTimeScalar } from '../date-time.scalar.js';

@InputType('SourceFilter', { description: 'Notes one of whose sources has all of these.' })
export class SourceFilterInput {
  @Field(() => String, { nullable: true, description: 'Such as `review`, `import` or `ticket`.' })
  kind?: string | null;
  @Field(() => String, { nullable: true, description: 'Who made the correction.' })
  author?: string | null;
  @Field(() => String, { nullable: true, description: 'The tool that sent it.' })
  tool?: string | null;
  @Field(() => String, { nullable: true, description: 'Where the discussion can be read.' })
  url?: string | null;
  @Field(() => String, { nullable: true, description: "The original record's name in its system." })
  record?: string | null;
  @Field(() => String, { nullable: true, description: 'Id of the import that brought it.' })
  run?: string | null;
}

@ObjectType('InfluencedAnswer', { description: 'An answer that held chosen notes.', simpleResolvers: true })
export class InfluencedAnswerType implements InfluencedAnswer {
  @Field(() => ID, { description: "The answer's receipt." })
  readonly receiptId!: string;
  @Field(() => DateTimeScalar, { description: 'When it was given.' })
  readonly at!: Instant;
  @Field(() => String, { description: 'Name of the key that asked.' })
  readonly caller!: string;
  @Field(() => [ID], { description: 'The chosen notes that it held.' })
  readonly noteIds!: readonly string[];
}

@ObjectType('CallerAnswers', { description: 'Answers to one caller.', simpleResolvers: true })
export class CallerAnswersType {
  @Field(() => String, { description: 'Name of the key that asked.' })
  readonly caller!: string;
  @Field(() => Int, { description: 'How many.' })
  readonly answers!: number;
}

@ObjectType('Influence', {
  description: 'Which answers notes had a part in, from the receipts that are kept.',
  simpleResolvers: true,
})
export class InfluenceType implements Influence {
  @Field(() => Int, { description: 'Chosen notes.' })
  readonly notes!: number;
  @Field(() => Int, { description: 'Answers that held at least one of them.' })
  readonly answers!: number;
  @Field(() => [CallerAnswersType], { description: 'Who got them, most first.' })
  readonly callers!: readonly CallerAnswersType[];
  @Field(() => DateTimeScalar, { nullable: true, description: 'The oldest of the answers.' })
  readonly firstAt?: Instant | undefined;
  @Field(() => DateTimeScalar, { nullable: true, description: 'The newest of the answers.' })
  readonly lastAt?: Instant | undefined;
  @Field(() => [InfluencedAnswerType], { description: 'Newest first.' })
  readonly newest!: readonly InfluencedAnswerType[];
  @Field(() => Boolean, { description: 'Whether there is more than was counted.' })
  readonly truncated!: boolean;
}

@ObjectType('DeprecationReport', {
  description: 'What a deprecation by source did, or would do.',
  simpleResolvers: true,
})
export class DeprecationReportType implements DeprecationReport {
  @Field(() => Boolean, { description: 'Whether nothing was changed.' })
  readonly dryRun!: boolean;
  @Field(() => Int, { description: 'Notes with such a source that were not deprecated.' })
  readonly matched!: number;
  @Field(() => Int, { description: 'Notes that were deprecated.' })
  readonly deprecated!: number;
  @Field(() => [ID], { description: 'The matched notes, oldest first, at most 1,000.' })
  readonly noteIds!: readonly string[];
  @Field(() => Int, { description: 'Answers that held one of them.' })
  readonly answers!: number;
}

/** Leaves out what was not given. */
export function readSourceFilter(input: SourceFilterInput | null | undefined): SourceFilter {
  return Object.fromEntries(Object.entries(input ?? {}).filter(([, value]) => value != null));
}
