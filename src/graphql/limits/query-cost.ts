import {
  type DocumentNode,
  type FieldNode,
  type GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { LIMITS } from '../../domain/limits.js';
import { DEFAULT_PAGE_SIZE } from '../paging/page-request.js';
import { tooComplex } from './refusal.js';

type Values = Readonly<Record<string, unknown>>;
/** Sizes of lists further down, by field name, as the arguments above them say. */
type Sizes = Readonly<Record<string, number>>;

/** Fields that embed texts or search: worth about this many look-ups of a note (some ms against some ten µs). */
const WORK: Readonly<Record<string, number>> = {
  'Query.retrieve': 20,
  'Query.buildPrompt': 20,
  'Query.similarNotes': 20,
  'Mutation.submitCorrection': 20,
};
/** Lists as long as a list argument. */
const LIST_ARGUMENT: Readonly<Record<string, string>> = {
  'Mutation.submitCorrections': 'inputs',
  'Mutation.deprecateNotes': 'ids',
  'Mutation.restoreNotes': 'ids',
};
/** Stored inside their parent: no look-up, and bounded by `LIMITS` when written. */
const EMBEDDED = new Set(['Attribute', 'NoteSource', 'Finding', 'Stage', 'TaskTypeCount']);
/** Lists without any argument near: most notes replace none or one other. */
const SUPERSEDES_SIZE = 5;
const INTROSPECTION_COST = 100;

class CostWalk {
  private readonly open = new Set<string>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly document: DocumentNode,
    private readonly variables: Values,
  ) {}

  setCost(set: SelectionSetNode, parent: GraphQLNamedType, sizes: Sizes): number {
    let cost = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) cost += this.fieldCost(selection, parent, sizes);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        cost += this.setCost(selection.selectionSet, parent, sizes);
      else cost += this.fragmentCost(selection.name.value, parent, sizes);
    }
    return cost;
  }

  private fragmentCost(name: string, parent: GraphQLNamedType, sizes: Sizes): number {
    const fragment = this.document.definitions.find(
      (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === name,
    );
    if (fragment?.kind !== Kind.FRAGMENT_DEFINITION || this.open.has(name)) return 0;
    this.open.add(name);
    const cost = this.setCost(fragment.selectionSet, parent, sizes);
    this.open.delete(name);
    return cost;
  }

  private fieldCost(node: FieldNode, parent: GraphQLNamedType, sizes: Sizes): number {
    const name = node.name.value;
    if (name.startsWith('__')) return name === '__typename' ? 0 : INTROSPECTION_COST;
    const field = isObjectType(parent) ? parent.getFields()[name] : undefined;
    if (field === undefined) return 0;
    const coordinate = `${parent.name}.${name}`;
    const type = getNamedType(field.type);
    const own = WORK[coordinate] ?? (isLeafType(type) && !isRoot(this.schema, parent) ? 0 : 1);
    const below = this.sizesBelow(node, field, coordinate, sizes);
    const isList = isListType(getNullableType(field.type));
    const times =
      isList && !isLeafType(type) && !EMBEDDED.has(type.name) ? (below[name] ?? SUPERSEDES_SIZE) : 1;
    const inner = node.selectionSet === undefined ? 0 : this.setCost(node.selectionSet, type, below);
    return own + (isList ? times * (1 + inner) : inner);
  }

  /** Sizes that hold for the field itself and all below it. */
  private sizesBelow(
    node: FieldNode,
    field: GraphQLField<unknown, unknown>,
    coordinate: string,
    sizes: Sizes,
  ): Sizes {
    const name = field.name;
    const listArgument = LIST_ARGUMENT[coordinate];
    if (listArgument !== undefined) {
      const list = this.argument(node, listArgument);
      return { ...sizes, [name]: Array.isArray(list) ? list.length : 1 };
    }
    if (coordinate === 'Query.retrieve')
      return { ...sizes, ...this.retrieveSizes(this.argument(node, 'input')) };
    if (coordinate === 'Query.buildPrompt') {
      const input = this.argument(node, 'input');
      return { ...sizes, ...this.retrieveSizes(isRecord(input) ? input.retrieve : undefined) };
    }
    if (coordinate === 'Query.receipt') {
      return { ...sizes, notes: LIMITS.finalK, candidates: LIMITS.candidateK };
    }
    const first = field.args.find((each) => each.name === 'first');
    if (first === undefined) return sizes;
    const fallback = typeof first.defaultValue === 'number' ? first.defaultValue : DEFAULT_PAGE_SIZE;
    const size = sizeOf(this.argument(node, 'first') ?? this.argument(node, 'last'), fallback);
    return { ...sizes, edges: size, [name]: size };
  }

  private retrieveSizes(input: unknown): Sizes {
    const record = isRecord(input) ? input : {};
    const finalK = sizeOf(record.finalK, 3);
    return { notes: finalK, included: finalK, omitted: finalK, candidates: sizeOf(record.candidateK, 20) };
  }

  private argument(node: FieldNode, name: string): unknown {
    const argument = node.arguments?.find((each) => each.name.value === name);
    return argument === undefined ? undefined : valueFromASTUntyped(argument.value, this.variables);
  }
}

const isRecord = (value: unknown): value is Values => typeof value === 'object' && value !== null;

const isRoot = (schema: GraphQLSchema, type: GraphQLNamedType): boolean =>
  type === schema.getMutationType() || type === schema.getQueryType();

/** Sizes below 1 and beyond the limits are refused by whoever uses them; here they only must not lower the cost. */
const sizeOf = (value: unknown, fallback: number): number =>
  typeof value === 'number' && value >= 1 ? value : fallback;

export interface CostedOperation {
  readonly schema: GraphQLSchema;
  /** Validated, and within the limits of `checkDocumentShape`. */
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Values | undefined;
}

/**
 * Estimates how many objects an operation resolves: 1 an object (more where texts are embedded), leaves free, lists times
 * their size, which comes from `first`, `last`, `finalK`, `candidateK` or the length of a list argument, variables
 * included. Hence it runs for every request, also where the document is known.
 */
export function queryCost({ schema, document, operation, variables = {} }: CostedOperation): number {
  const root = schema.getRootType(operation.operation);
  if (root == null) return 0;
  const values: Record<string, unknown> = { ...variables };
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    if (values[name] === undefined && defaultValue !== undefined)
      values[name] = valueFromASTUntyped(defaultValue);
  }
  return new CostWalk(schema, document, values).setCost(operation.selectionSet, root, {});
}

/** @returns the refusal, or undefined where the cost is within the limit. */
export function checkQueryCost(costed: CostedOperation, maxCost: number): GraphQLError | undefined {
  const cost = queryCost(costed);
  return cost > maxCost ? tooComplex('cost', maxCost, Math.ceil(cost)) : undefined;
}
