import { type GraphQLSchema, isEnumType } from 'graphql';

/** A safe text about a value of the wrong type, or undefined where a message is about something else. */
type Rewrite = (match: RegExpExecArray, schema: GraphQLSchema) => string;

const NAME = /^[_A-Za-z][_0-9A-Za-z]{0,63}$/;

const enumValues = (schema: GraphQLSchema, name: string): string => {
  const type = schema.getType(name);
  return isEnumType(type)
    ? `one of ${type
        .getValues()
        .map((value) => value.name)
        .join(', ')}`
    : `a value of ${name}`;
};

/**
 * graphql-js puts the offending value into its texts, which may be note text of any length. Each pattern keeps the part
 * that helps. The texts are those of graphql 16; a test feeds every kind of wrong value through.
 */
const REWRITES: readonly (readonly [RegExp, Rewrite])[] = [
  [/^(Expected an RFC 3339 instant [^,]*, such as [^,]*, received an? [^"]*)$/, ([, text = '']) => text],
  [
    /Expected an RFC 3339 instant/,
    () =>
      'Expected an RFC 3339 instant with offset, such as 2026-01-31T09:30:00Z, for DateTime, received another text',
  ],
  [
    /^Value ".*" does not exist in "(\w+)" enum/s,
    ([, name = ''], schema) => `Expected ${enumValues(schema, name)}, received another name`,
  ],
  [
    /^Enum "(\w+)" cannot represent/,
    ([, name = ''], schema) => `Expected ${enumValues(schema, name)}, received another kind of value`,
  ],
  [
    /^(\w+) cannot represent (?:an? )?(non[- ][\w -]+?|\w[\w -]*?)(?: value)?: /,
    ([, type = '', what = '']) =>
      `Expected ${type}, received ${what.startsWith('non') ? `a ${what} value` : 'another value'}`,
  ],
  [
    /^(\w+) cannot represent/,
    ([, type = '']) => `Expected ${type}, received a value that it cannot represent`,
  ],
  [
    /^Field "([\w.]+)" of required type "([^"]+)" was not provided/,
    ([, field = '', type = '']) => `Expected ${type} for ${field}, received nothing`,
  ],
  [
    /^Field "(.*)" is not defined by type "(\w+)"/s,
    ([, field = '', type = '']) =>
      `Expected only fields of ${type}, received ${NAME.test(field) ? field : 'another name'}`,
  ],
  [
    /^Expected non-nullable type "([^"]+)" not to be null/,
    ([, type = '']) => `Expected ${type}, received null`,
  ],
  [
    /^Expected type "(\w+)" to be an object/,
    ([, type = '']) => `Expected an object for ${type}, received another kind of value`,
  ],
  [
    /^Expected value of type "([^"]+)", found/,
    ([, type = '']) => `Expected ${type}, received another kind of value`,
  ],
  [/^Expected type "([^"]+)"/, ([, type = '']) => `Expected ${type}, received another kind of value`],
  [
    /^Argument "(\w+)" of (?:required|non-null) type "([^"]+)"/,
    ([, name = '', type = '']) => `Expected ${type} for ${name}, received nothing`,
  ],
  [
    /^Field "(\w+)" argument "(\w+)" of type "([^"]+)" is required/,
    ([, field = '', name = '', type = '']) => `Expected ${type} for ${field}.${name}, received nothing`,
  ],
];

export function describeInputProblem(message: string, schema: GraphQLSchema): string | undefined {
  for (const [pattern, rewrite] of REWRITES) {
    const match = pattern.exec(message);
    if (match !== null) return rewrite(match, schema);
  }
  return undefined;
}
