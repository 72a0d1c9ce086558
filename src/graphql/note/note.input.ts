import { Field, InputType } from 'type-graphql';
import { ErrataError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import { type Impact, type Instant, NOTE_STATUSES, type NoteStatus } from '../../domain/note.js';
import type { NoteFilter } from '../../ports/note-store.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { ImpactEnum, NoteStatusEnum } from '../enums.js';
import { AttributeInputType, readAttributes } from './attribute.js';

@InputType('NoteFilter', { description: 'Every condition given must hold.' })
export class NoteFilterInput {
  @Field(() => String, {
    nullable: true,
    description: 'Only this namespace; none: every namespace that the key is granted.',
  })
  namespace?: string | null;
  @Field(() => [String], { nullable: true, description: 'Any of these task types.' })
  taskTypes?: string[] | null;
  @Field(() => [NoteStatusEnum], { nullable: true, description: 'Any of these statuses.' })
  statuses?: NoteStatus[] | null;
  @Field(() => ImpactEnum, { nullable: true, description: 'Only this impact.' })
  impact?: Impact | null;
  @Field(() => String, { nullable: true, description: "Author of any of the note's sources." })
  author?: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'Part of wrongAnswer, correction or lesson; case does not matter.',
  })
  text?: string | null;
  @Field(() => [AttributeInputType], { nullable: true, description: 'All must match.' })
  attributes?: AttributeInputType[] | null;
  @Field(() => String, {
    nullable: true,
    description: 'Waiting notes that this reviewer was asked to judge.',
  })
  assignee?: string | null;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Waiting notes that were due before this instant.',
  })
  dueBefore?: Instant | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Made at this instant or later.' })
  createdFrom?: Instant | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Made before this instant.' })
  createdTo?: Instant | null;
}

/** More task types than any installation filters by at once; far below what one statement can bind. */
const MAX_TASK_TYPES = 100;

/**
 * Lists have no use case that checks their filter, so it is done here: lengths, and text that stores cannot hold.
 *
 * Errors: `INPUT_TOO_LARGE`, `INVALID_TEXT`.
 */
function checkText(field: string, text: string, maximum: number): void {
  if (text.length > maximum) {
    throw new ErrataError(
      'INPUT_TOO_LARGE',
      `Expected at most ${maximum} units for ${field}, received ${text.length}`,
      {
        details: { field, maximum },
      },
    );
  }
  if (!text.isWellFormed() || text.includes('\0')) {
    throw new ErrataError(
      'INVALID_TEXT',
      `Expected text without lone surrogates and NUL for ${field}, received some`,
      {
        details: { field },
      },
    );
  }
}

function checkCount(field: string, count: number, maximum: number): void {
  if (count > maximum) {
    throw new ErrataError(
      'INPUT_TOO_LARGE',
      `Expected at most ${maximum} entries for ${field}, received ${count}`,
      {
        details: { field, maximum },
      },
    );
  }
}

function checkFilter({ taskTypes, statuses, attributes, author, assignee, text }: NoteFilterInput): void {
  checkCount('filter.taskTypes', taskTypes?.length ?? 0, MAX_TASK_TYPES);
  checkCount('filter.statuses', statuses?.length ?? 0, NOTE_STATUSES.length);
  checkCount('filter.attributes', attributes?.length ?? 0, LIMITS.attributes);
  for (const taskType of taskTypes ?? []) checkText('filter.taskTypes', taskType, LIMITS.taskTypeLength);
  for (const { key, value } of attributes ?? []) {
    checkText('filter.attributes', key, LIMITS.attributeKeyLength);
    checkText('filter.attributes', value, LIMITS.attributeValueLength);
  }
  checkText('filter.author', author ?? '', LIMITS.sourceFieldLength);
  checkText('filter.assignee', assignee ?? '', LIMITS.sourceFieldLength);
  checkText('filter.text', text ?? '', LIMITS.queryLength);
}

/** The part of the input that the port's filter knows; the namespace goes into the scope. Errors: `INVALID_INPUT`, `INVALID_TEXT`, `INPUT_TOO_LARGE`. */
export function readNoteFilter(input: NoteFilterInput | null | undefined): NoteFilter {
  if (input == null) return {};
  checkFilter(input);
  const attributes = readAttributes(input.attributes, 'filter.attributes');
  return {
    ...(input.taskTypes != null && { taskTypes: input.taskTypes }),
    ...(input.statuses != null && { statuses: input.statuses }),
    ...(input.impact != null && { impact: input.impact }),
    ...(input.author != null && { author: input.author }),
    ...(input.text != null && { text: input.text }),
    ...(attributes !== undefined && { attributes }),
    ...(input.assignee != null && { assignee: input.assignee }),
    ...(input.dueBefore != null && { dueBefore: input.dueBefore }),
    ...(input.createdFrom != null && { createdFrom: input.createdFrom }),
    ...(input.createdTo != null && { createdTo: input.createdTo }),
  };
}
