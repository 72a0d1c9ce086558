import { Field, Int, ObjectType } from 'type-graphql';
import type { FieldChange, NoteVersionEntry } from '../../ports/use-cases.js';
import { FeedbackNoteType } from './note.type.js';

@ObjectType('FieldChange', { description: 'What a version changed in one field.', simpleResolvers: true })
export class FieldChangeType implements FieldChange {
  @Field(() => String, { description: 'Such as `impact` or `attributes.repo`.' })
  readonly field!: string;
  @Field(() => String, { nullable: true, description: 'None where the field had no value.' })
  readonly before?: string | undefined;
  @Field(() => String, { nullable: true, description: 'None where the field has no value any more.' })
  readonly after?: string | undefined;
}

@ObjectType('NoteVersion', { description: 'One version of a note.', simpleResolvers: true })
export class NoteVersionType {
  @Field(() => Int, { description: 'Its number: 1 for a new note.' })
  readonly version: number;
  @Field(() => FeedbackNoteType, {
    description: 'The note as it was; sources and outcomes as they are now.',
  })
  readonly note: FeedbackNoteType;
  @Field(() => String, { nullable: true, description: 'What happened, as the audit log names it.' })
  readonly action: string | undefined;
  @Field(() => String, { nullable: true, description: 'Who did it.' })
  readonly actor: string | undefined;
  @Field(() => String, { nullable: true, description: 'Why, in the words of the actor.' })
  readonly reason: string | undefined;
  @Field(() => [FieldChangeType], {
    description:
      'Differences to the version before; of the first version of an edited note, to the note it took over from.',
  })
  readonly changes: readonly FieldChangeType[];

  constructor({ note, action, actor, reason, changes }: NoteVersionEntry) {
    this.version = note.version;
    this.note = new FeedbackNoteType(note);
    this.action = action;
    this.actor = actor;
    this.reason = reason;
    this.changes = changes;
  }
}
