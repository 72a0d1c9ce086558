import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildGraphqlSchema } from '../../src/graphql/build-schema.js';
import { emitSchema } from '../../src/graphql/emit-schema.js';

const EMITTED = 'schema/schema.graphql';
const CONTRACT = '../shared/contract.graphql';

const ownTypes = (schema: GraphQLSchema): GraphQLNamedType[] =>
  Object.values(schema.getTypeMap()).filter(
    ({ name }) => !name.startsWith('__') && !['String', 'Int', 'Float', 'Boolean', 'ID'].includes(name),
  );

const describeInput = (input: GraphQLArgument | GraphQLInputField): string =>
  `${input.type}${input.defaultValue === undefined ? '' : ` = ${JSON.stringify(input.defaultValue)}`}`;

/** Every element of a schema as `coordinate: type and default`. */
function elements(schema: GraphQLSchema): Map<string, string> {
  const found = new Map<string, string>();
  for (const type of ownTypes(schema)) {
    found.set(type.name, type.constructor.name);
    if (isEnumType(type)) for (const { name } of type.getValues()) found.set(`${type.name}.${name}`, 'value');
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields()))
        found.set(`${type.name}.${field.name}`, describeInput(field));
    }
    if (isObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        found.set(`${type.name}.${field.name}`, String(field.type));
        for (const each of field.args)
          found.set(`${type.name}.${field.name}(${each.name}:)`, describeInput(each));
      }
    }
  }
  return found;
}

/** Elements without a description. */
function undescribed(schema: GraphQLSchema): string[] {
  const missing: string[] = [];
  const check = (coordinate: string, described: { description?: string | null | undefined }): void => {
    if (!described.description) missing.push(coordinate);
  };
  for (const type of ownTypes(schema)) {
    check(type.name, type);
    if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value);
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) check(`${type.name}.${field.name}`, field);
    if (isObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        check(`${type.name}.${field.name}`, field);
        for (const each of field.args) check(`${type.name}.${field.name}(${each.name}:)`, each);
      }
    }
  }
  return missing;
}

describe('schema', () => {
  it('is what schema/schema.graphql holds; after a change write it anew with -u', async () => {
    expect(existsSync(EMITTED)).toBe(true);
    await expect(emitSchema()).toMatchFileSnapshot(resolve(EMITTED));
  });

  it('describes every type, field, argument and value', () => {
    expect(undescribed(buildGraphqlSchema())).toEqual([]);
  });

  it('reads back as the same schema', () => {
    expect([...elements(buildSchema(emitSchema()))].sort()).toEqual(
      [...elements(buildGraphqlSchema())].sort(),
    );
  });

  it.skipIf(!existsSync(CONTRACT))(
    'holds everything of the contract (skipped where ../shared is absent)',
    () => {
      const ours = elements(buildGraphqlSchema());
      const contract = elements(buildSchema(readFileSync(CONTRACT, 'utf8')));
      expect(contract.size).toBeGreaterThan(200);
      const different = [...contract].filter(([coordinate, text]) => ours.get(coordinate) !== text);
      expect(
        different.map(([coordinate, text]) => `${coordinate}: ${text}, ours ${ours.get(coordinate)}`),
      ).toEqual([]);
    },
  );
});
