import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { OperationLimits } from '../server-config.js';
import { checkVariables } from './check-variables.js';
import { checkDocumentShape } from './document-shape.js';
import { describeInputProblem } from './input-problem.js';
import { checkQueryCost } from './query-cost.js';
import { refusal, tooComplex } from './refusal.js';

export interface OperationRequest {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** An operation that may run: parsed, validated, within every limit, its variables of the right types. */
export interface PreparedOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

export type GateAnswer =
  | { readonly prepared: PreparedOperation }
  | { readonly refused: readonly [GraphQLError, ...GraphQLError[]] };

/** The one way to execution, for HTTP and WebSocket alike. Never throws for anything a client can send. */
export interface OperationGate {
  prepare(request: OperationRequest): GateAnswer;
}

/** Clients send few different documents; 500 of at most 4 MiB together cover them without growing without end. */
const CACHED_DOCUMENTS = 500;
const CACHED_CHARACTERS = 4_194_304;
/** As many as help; graphql-js itself would go on to 100. */
const MAX_VALIDATION_ERRORS = 20;
const MAX_MESSAGE_LENGTH = 300;
/** What graphql-js says when its own budget for comparing fields is used up. */
const VALIDATION_ABORTED = 'Validation aborted.';

export function createOperationGate(options: {
  schema: GraphQLSchema;
  limits: OperationLimits;
  introspection: boolean;
}): OperationGate {
  const { schema, limits, introspection } = options;
  const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const documents = new LRUCache<string, DocumentNode>({
    max: CACHED_DOCUMENTS,
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: (_document, source) => source.length,
  });

  const readDocument = (source: string): DocumentNode | readonly [GraphQLError, ...GraphQLError[]] => {
    const known = documents.get(source);
    if (known !== undefined) return known;
    const document = parseWithin(source, limits.maxTokens);
    if (document instanceof GraphQLError) return [document];
    const shape = checkDocumentShape(document, limits);
    if (shape !== undefined) return [shape];
    const [head, ...rest] = validate(schema, document, rules, { maxErrors: MAX_VALIDATION_ERRORS }).map(
      (error) => validationRefusal(error, schema, introspection),
    );
    if (head !== undefined) return [head, ...rest];
    documents.set(source, document);
    return document;
  };

  return {
    prepare: ({ query, operationName, variables }) => {
      const document = readDocument(query);
      if (!('kind' in document)) return { refused: document };
      const operation = getOperationAST(document, operationName);
      if (operation == null) {
        const text = 'Expected the name of one operation of the document for operationName, received another';
        return { refused: [refusal('OPERATION_RESOLUTION_FAILURE', text)] };
      }
      const [head, ...rest] = checkVariables(schema, operation, variables ?? {});
      if (head !== undefined) return { refused: [head, ...rest] };
      const cost = checkQueryCost(
        { schema, document, operation, variables: variables ?? undefined },
        limits.maxCost,
      );
      return cost === undefined ? { prepared: { document, operation } } : { refused: [cost] };
    },
  };
}

function parseWithin(source: string, maxTokens: number): DocumentNode | GraphQLError {
  try {
    return parse(source, { maxTokens });
  } catch (error) {
    if (error instanceof GraphQLError && /contains more th.* tokens/.test(error.message)) {
      return tooComplex('tokens', maxTokens, maxTokens + 1);
    }
    if (error instanceof RangeError) return tooComplex('nesting', maxTokens, maxTokens);
    const message = error instanceof GraphQLError ? error.message : 'Syntax Error';
    return refusal('GRAPHQL_PARSE_FAILED', message.slice(0, MAX_MESSAGE_LENGTH));
  }
}

/** Values of the wrong type are `INVALID_INPUT` whether they stand in the document or in a variable. */
function validationRefusal(error: GraphQLError, schema: GraphQLSchema, introspection: boolean): GraphQLError {
  const nodes = error.nodes ?? undefined;
  if (error.message === VALIDATION_ABORTED) {
    return refusal(
      'QUERY_TOO_COMPLEX',
      'Expected fewer repeated fields in the document, received too many to compare',
      {
        details: { limit: 'field comparisons' },
      },
    );
  }
  const problem = describeInputProblem(error.message, schema);
  if (problem !== undefined) return refusal('INVALID_INPUT', problem, { nodes });
  // Suggestions name parts of the schema, which is what switching introspection off hides.
  const message = introspection ? error.message : error.message.replace(/ Did you mean .*$/s, '');
  return refusal('GRAPHQL_VALIDATION_FAILED', message.slice(0, MAX_MESSAGE_LENGTH), { nodes });
}
