import { Field, Float, ID, ObjectType } from 'type-graphql';
import type { SubmitOutcome, SubmitResult } from '../../ports/use-cases.js';
import { SubmitOutcomeEnum } from '../enums.js';
import { FeedbackNoteType, toNoteType } from '../note/note.type.js';
import { FindingType } from '../note/note-parts.type.js';

@ObjectType('SubmitResult', {
  description: 'What became of one submitted correction.',
  simpleResolvers: true,
})
export class SubmitResultType {
  @Field(() => SubmitOutcomeEnum, { description: 'What was done.' })
  readonly outcome: SubmitOutcome;
  @Field(() => FeedbackNoteType, {
    nullable: true,
    description: 'The note as stored; none where nothing was.',
  })
  readonly note: FeedbackNoteType | undefined;
  @Field(() => FeedbackNoteType, { nullable: true, description: 'The near duplicate that was found.' })
  readonly duplicateOf: FeedbackNoteType | undefined;
  @Field(() => Float, { nullable: true, description: 'Cosine to the nearest note, where one was near.' })
  readonly similarity: number | undefined;
  @Field(() => [ID], {
    description:
      'Notes that left retrieval, since the correction names an anchor of theirs in another state.',
  })
  readonly demoted: readonly string[];
  @Field(() => [FindingType], { description: 'What screening, redaction and validation noticed.' })
  readonly findings: readonly FindingType[];

  constructor(result: SubmitResult) {
    this.outcome = result.outcome;
    this.note = toNoteType(result.note);
    this.duplicateOf = toNoteType(result.duplicateOf);
    this.similarity = result.similarity;
    this.demoted = result.demoted ?? [];
    this.findings = result.findings;
  }
}
