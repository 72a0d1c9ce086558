import { Field, Int, ObjectType } from 'type-graphql';
import type { Finding, Instant, NoteSource, OutcomeCounts } from '../../domain/note.js';
import { wilson } from '../../domain/wilson.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { ShareType } from '../share.type.js';

@ObjectType('NoteSource', {
  description: 'Provenance: who said it, with what tool, where.',
  simpleResolvers: true,
})
export class NoteSourceType implements NoteSource {
  @Field(() => String, { description: 'Such as `review`, `import`, `ticket` or `cli`.' })
  readonly kind!: string;
  @Field(() => String, { nullable: true, description: 'Who made the correction.' })
  readonly author?: string | undefined;
  @Field(() => String, {
    nullable: true,
    description: 'The tool whose output was corrected, or that sent it.',
  })
  readonly tool?: string | undefined;
  @Field(() => String, { nullable: true, description: 'Where the discussion can be read.' })
  readonly url?: string | undefined;
  @Field(() => String, { nullable: true, description: "The original record's name in its system." })
  readonly record?: string | undefined;
  @Field(() => String, { nullable: true, description: 'Id of the import that brought it.' })
  readonly run?: string | undefined;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When the correction was made.' })
  readonly at?: Instant | undefined;
}

@ObjectType('Finding', {
  description: 'What screening, redaction or validation noticed.',
  simpleResolvers: true,
})
export class FindingType implements Finding {
  @Field(() => String, { description: 'Stable dotted id of the rule.' })
  readonly rule!: string;
  @Field(() => String, { description: 'The input field it concerns.' })
  readonly field!: string;
  @Field(() => String, { description: 'Why, in words for a reviewer.' })
  readonly reason!: string;
}

@ObjectType('OutcomeCounts', { description: 'How a note did after it was retrieved.', simpleResolvers: true })
export class OutcomeCountsType implements OutcomeCounts {
  @Field(() => Int, { description: 'How often it was in an answer.' })
  readonly retrieved: number;
  @Field(() => Int, { description: 'Verdicts HELPFUL.' })
  readonly helpful: number;
  @Field(() => Int, { description: 'Verdicts HARMFUL.' })
  readonly harmful: number;
  @Field(() => Int, { description: 'Verdicts IGNORED.' })
  readonly ignored: number;

  constructor({ retrieved, helpful, harmful, ignored }: OutcomeCounts) {
    this.retrieved = retrieved;
    this.helpful = helpful;
    this.harmful = harmful;
    this.ignored = ignored;
  }

  @Field(() => ShareType, { description: 'Share of the verdicts that were HELPFUL.' })
  get helpfulShare(): ShareType {
    return wilson(this.helpful, this.helpful + this.harmful + this.ignored);
  }
  @Field(() => ShareType, {
    description:
      'Share of the verdicts that were HARMFUL; past a limit its lower bound sends the note to review.',
  })
  get harmfulShare(): ShareType {
    return wilson(this.harmful, this.helpful + this.harmful + this.ignored);
  }
}
