import { Field, ID, ObjectType } from 'type-graphql';
import type { EffectReport, NoteEffect } from '../../ports/use-cases.js';
import { DifferenceType, ShareType } from '../share.type.js';

@ObjectType('NoteEffect', {
  description: 'Right checks where notes were served and where they were withheld, both decided by a coin.',
  simpleResolvers: true,
})
export class NoteEffectType implements NoteEffect {
  @Field(() => ID, { nullable: true, description: 'The note; none for all notes together.' })
  readonly noteId?: string | undefined;
  @Field(() => ShareType, { description: 'Right checks where the note was served.' })
  readonly served!: ShareType;
  @Field(() => ShareType, { description: 'Right checks where it was withheld.' })
  readonly withheld!: ShareType;
  @Field(() => DifferenceType, { description: 'What serving it does to the share of right checks.' })
  readonly effect!: DifferenceType;
}

@ObjectType('EffectReport', {
  description: 'What notes do to the share of right checks, measured and not guessed.',
  simpleResolvers: true,
})
export class EffectReportType implements EffectReport {
  @Field(() => NoteEffectType, { description: 'Over all trials of the namespace.' })
  readonly all!: NoteEffectType;
  @Field(() => [NoteEffectType], { description: 'The notes with most trials, most first.' })
  readonly notes!: readonly (NoteEffectType & { readonly noteId: string })[];
  @Field(() => Boolean, { description: 'Whether older trials were left out.' })
  readonly truncated!: boolean;
}
