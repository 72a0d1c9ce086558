import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';

export interface Operation {
  readonly name: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

const PLAIN: Readonly<Record<string, unknown>> = {
  Int: 1,
  Float: 0.5,
  Boolean: true,
  DateTime: '2026-01-01T00:00:00.000Z',
};

/** Every query and mutation of the schema, with every argument and input field given; `text` makes what stands wherever text may. */
export function everyOperation(text: () => string): readonly Operation[] {
  const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));
  const value = (type: GraphQLInputType): unknown => {
    if (isNonNullType(type)) return value(type.ofType);
    if (isListType(type)) return [value(type.ofType)];
    if (isEnumType(type)) return type.getValues()[0]?.name;
    if (isInputObjectType(type))
      return Object.fromEntries(
        Object.values(type.getFields()).map((field) => [field.name, value(field.type)]),
      );
    return type.name in PLAIN ? PLAIN[type.name] : text();
  };
  const kinds = { query: schema.getQueryType(), mutation: schema.getMutationType() };
  return Object.entries(kinds).flatMap(([kind, root]) =>
    Object.values(root?.getFields() ?? {}).map((field): Operation => {
      const declared = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
      const given = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
      const bare = isNonNullType(field.type) ? field.type.ofType : field.type;
      const selection = isLeafType(bare) ? '' : ' { __typename }';
      const call = given === '' ? field.name : `${field.name}(${given})`;
      return {
        name: field.name,
        query: `${kind}${declared === '' ? '' : ` (${declared})`} { ${call}${selection} }`,
        variables: Object.fromEntries(field.args.map(({ name, type }) => [name, value(type)])),
      };
    }),
  );
}
