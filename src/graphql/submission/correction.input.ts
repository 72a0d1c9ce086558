import { Field, InputType } from 'type-graphql';
import type { Caller } from '../../domain/api-key.js';
import { ErrataError } from '../../domain/errors.js';
import type { Impact, Instant, NoteSource } from '../../domain/note.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import type { CorrectionInput } from '../../ports/use-cases.js';
import { requireNamespace } from '../access.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { ImpactEnum } from '../enums.js';
import { AttributeInputType, readAttributes } from '../note/attribute.js';
import { AnchorInputType } from '../review/review.type.js';

@InputType('SourceInput', { description: 'Provenance of a correction: who, with what tool, where.' })
export class SourceInputType {
  @Field(() => String, { description: 'Such as `review`, `import`, `ticket` or `cli`.' })
  kind!: string;
  @Field(() => String, { nullable: true, description: 'Who made the correction.' })
  author?: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'The tool whose output was corrected, or that sent it.',
  })
  tool?: string | null;
  @Field(() => String, { nullable: true, description: 'Where the discussion can be read.' })
  url?: string | null;
  @Field(() => String, {
    nullable: true,
    description: "The original record's name in its system, such as a ticket or a file and line.",
  })
  record?: string | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When the correction was made.' })
  at?: Instant | null;
}

@InputType('CorrectionInput', { description: 'What a model claimed, what is true, and the lesson.' })
export class CorrectionInputType {
  @Field(() => String, { nullable: true, defaultValue: DEFAULT_NAMESPACE, description: 'Tenant boundary.' })
  namespace?: string | null;
  @Field(() => String, { description: 'The kind of check the note belongs to, such as `code-review`.' })
  taskType!: string;
  @Field(() => String, { description: 'What the model claimed.' })
  wrongAnswer!: string;
  @Field(() => String, { description: 'What is true.' })
  correction!: string;
  @Field(() => String, { description: 'The one-line rule to inject next time. One lesson a note.' })
  lesson!: string;
  @Field(() => [AttributeInputType], { nullable: true, description: 'Keys and values to filter on.' })
  attributes?: AttributeInputType[] | null;
  @Field(() => ImpactEnum, {
    nullable: true,
    defaultValue: 'NORMAL',
    description: 'How much a wrong note could do; HIGH needs approval before it goes live.',
  })
  impact?: Impact | null;
  @Field(() => SourceInputType, { nullable: true, description: 'Who said it, with what tool, where.' })
  source?: SourceInputType | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When the correction was made; none: now.' })
  createdAt?: Instant | null;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'From then on the note is no longer retrieved.',
  })
  expiresAt?: Instant | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'From then on a reviewer should look again.' })
  reviewAfter?: Instant | null;
  @Field(() => [AnchorInputType], { nullable: true, description: 'What the note depends on; at most 16.' })
  anchors?: AnchorInputType[] | null;
}

function readSource(source: SourceInputType): NoteSource {
  return {
    kind: source.kind,
    ...(source.author != null && { author: source.author }),
    ...(source.tool != null && { tool: source.tool }),
    ...(source.url != null && { url: source.url }),
    ...(source.record != null && { record: source.record }),
    ...(source.at != null && { at: source.at }),
  };
}

/**
 * Maps the input and checks its namespace against the key's grants.
 *
 * @param expectedNamespace where the correction edits a note: a note cannot move to another tenant.
 * Errors: `FORBIDDEN`, `INVALID_INPUT`.
 */
export function readCorrection(
  caller: Caller,
  input: CorrectionInputType,
  expectedNamespace?: string,
): CorrectionInput {
  // The default cannot be told from an explicit `default`, so an edit that leaves the namespace out follows its note.
  const asked = input.namespace ?? DEFAULT_NAMESPACE;
  const follows = expectedNamespace !== undefined && asked === DEFAULT_NAMESPACE;
  const namespace = requireNamespace(caller, follows ? expectedNamespace : asked);
  if (expectedNamespace !== undefined && namespace !== expectedNamespace) {
    throw new ErrataError(
      'INVALID_INPUT',
      "Expected the note's namespace for edit.namespace, received another one",
      {
        details: { field: 'edit.namespace' },
      },
    );
  }
  const attributes = readAttributes(input.attributes, 'attributes');
  return {
    namespace,
    taskType: input.taskType,
    wrongAnswer: input.wrongAnswer,
    correction: input.correction,
    lesson: input.lesson,
    ...(attributes !== undefined && { attributes }),
    ...(input.impact != null && { impact: input.impact }),
    ...(input.source != null && { source: readSource(input.source) }),
    ...(input.createdAt != null && { createdAt: input.createdAt }),
    ...(input.expiresAt != null && { expiresAt: input.expiresAt }),
    ...(input.reviewAfter != null && { reviewAfter: input.reviewAfter }),
    ...(input.anchors != null && { anchors: input.anchors }),
  };
}
