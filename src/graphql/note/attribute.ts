import { Field, InputType, ObjectType } from 'type-graphql';
import { ErrataError } from '../../domain/errors.js';
import type { Attributes } from '../../domain/note.js';

@ObjectType('Attribute', { description: 'A key and value to filter on.', simpleResolvers: true })
export class AttributeType {
  @Field(() => String, { description: 'Such as `repo`, `language`, `product` or `rule`.' })
  readonly key: string;
  @Field(() => String, { description: 'Compared whole, case-sensitively.' })
  readonly value: string;

  constructor(key: string, value: string) {
    this.key = key;
    this.value = value;
  }
}

@InputType('AttributeInput', { description: 'A key and value; a key may stand only once in a list.' })
export class AttributeInputType {
  @Field(() => String, { description: 'Such as `repo`, `language`, `product` or `rule`.' })
  key!: string;
  @Field(() => String, { description: 'Compared whole, case-sensitively.' })
  value!: string;
}

/** Errors: `INVALID_INPUT` where a key stands twice: a map cannot hold both, and dropping one silently would widen a filter. */
export function readAttributes(
  entries: readonly AttributeInputType[] | null | undefined,
  field: string,
): Attributes | undefined {
  if (entries == null) return undefined;
  // No prototype: `__proto__` is a key like any other.
  const attributes: Record<string, string> = Object.create(null);
  for (const { key, value } of entries) {
    if (Object.hasOwn(attributes, key)) {
      throw new ErrataError('INVALID_INPUT', `Expected each key once for ${field}, received one twice`, {
        details: { field },
      });
    }
    attributes[key] = value;
  }
  return attributes;
}
