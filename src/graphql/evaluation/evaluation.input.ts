import { Field, ID, InputType, Int } from 'type-graphql';
import type { Caller } from '../../domain/api-key.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import type { GoldenQueryInput } from '../../ports/evaluations.js';
import { requireNamespace } from '../access.js';
import { AttributeInputType, readAttributes } from '../note/attribute.js';

@InputType('ExpectedNoteInput', { description: 'A note that a query should get.' })
export class ExpectedNoteInputType {
  @Field(() => ID, { description: "The note's id." })
  noteId!: string;
  @Field(() => Int, {
    nullable: true,
    defaultValue: 3,
    description: '3: decides the item. 2: helps. 1: related, harmless to show.',
  })
  grade?: number | null;
}

@InputType('GoldenQueryInput', {
  description: "A reviewer's judgement: which notes a query should have got.",
})
export class GoldenQueryInputType {
  @Field(() => String, { nullable: true, defaultValue: DEFAULT_NAMESPACE, description: 'Tenant boundary.' })
  namespace?: string | null;
  @Field(() => String, { description: 'As the checker asks.' })
  query!: string;
  @Field(() => String, { nullable: true, description: 'None: every task type.' })
  taskType?: string | null;
  @Field(() => [AttributeInputType], { nullable: true, description: 'Filters that the checker sets.' })
  attributes?: AttributeInputType[] | null;
  @Field(() => [ExpectedNoteInputType], { description: 'Empty: no note applies.' })
  expected!: ExpectedNoteInputType[];
  @Field(() => ID, {
    nullable: true,
    description: 'The answer that was judged; it must be of this query, and gives task type and attributes.',
  })
  receiptId?: string | null;
  @Field(() => String, { nullable: true, description: 'Such as `easy`, `medium`, `hard`.' })
  difficulty?: string | null;
  @Field(() => String, { nullable: true, description: 'ISO 639-1, of the query.' })
  language?: string | null;
}

/** Errors: `FORBIDDEN`, `INVALID_INPUT`. */
export function readGoldenQuery(caller: Caller, input: GoldenQueryInputType): GoldenQueryInput {
  return {
    namespace: requireNamespace(caller, input.namespace),
    query: input.query,
    taskType: input.taskType ?? undefined,
    attributes: readAttributes(input.attributes, 'attributes'),
    expected: input.expected.map(({ noteId, grade }) => ({ noteId, grade: grade ?? 3 })),
    receiptId: input.receiptId ?? undefined,
    difficulty: input.difficulty ?? undefined,
    language: input.language ?? undefined,
  };
}
