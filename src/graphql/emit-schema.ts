import { lexicographicSortSchema, printSchema } from 'graphql';
import { buildGraphqlSchema } from './build-schema.js';

/** The schema as text, descriptions included, in an order that does not depend on the code's: what `schema/schema.graphql` holds. */
export function emitSchema(): string {
  return `${printSchema(lexicographicSortSchema(buildGraphqlSchema()))}\n`;
}
