import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { OperationLimits } from '../server-config.js';
import { tooComplex } from './refusal.js';

/** The standard introspection query is 15 deep, which graphql-js itself bounds further. */
const INTROSPECTION_DEPTH = 20;
/**
 * Selections of a document with every fragment expanded. Bounds the walk below and the pairwise comparison of fields in
 * validation, both of which fragments could otherwise make exponential; a document of `maxTokens` without fragments stays below.
 */
const MAX_SELECTIONS = 2_000;
/** Validation compares fragments pairwise: 400 of them took 490 ms on a busy core, 100 take 30. */
const MAX_FRAGMENTS = 100;

/** Thrown inside the walk only. */
class Exceeded extends Error {
  constructor(readonly refusal: GraphQLError) {
    super();
  }
}

class ShapeWalk {
  private readonly fragments = new Map<string, FragmentDefinitionNode>();
  private readonly open = new Set<string>();
  private selections = 0;
  private aliases = 0;

  constructor(
    document: DocumentNode,
    private readonly limits: OperationLimits,
  ) {
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.fragments.set(definition.name.value, definition);
    }
  }

  /** `depth` counts the fields around the set; 0 is an operation's root. */
  visit(set: SelectionSetNode, depth: number, introspection: boolean): void {
    for (const selection of set.selections) {
      this.raise('selections', ++this.selections, MAX_SELECTIONS);
      if (selection.kind === Kind.FIELD) {
        const name = selection.name.value;
        const inside = introspection || name === '__schema' || name === '__type';
        this.raise('depth', depth + 1, inside ? INTROSPECTION_DEPTH : this.limits.maxDepth);
        if (selection.alias !== undefined) this.raise('aliases', ++this.aliases, this.limits.maxAliases);
        if (selection.selectionSet !== undefined) this.visit(selection.selectionSet, depth + 1, inside);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        this.visit(selection.selectionSet, depth, introspection);
      } else {
        this.visitFragment(selection.name.value, depth, introspection);
      }
    }
  }

  /** Root fields of an operation, fragments expanded. */
  countRoots(set: SelectionSetNode): number {
    let roots = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) roots += 1;
      else if (selection.kind === Kind.INLINE_FRAGMENT) roots += this.countRoots(selection.selectionSet);
      else this.inFragment(selection.name.value, (inner) => (roots += this.countRoots(inner)));
    }
    return roots;
  }

  private visitFragment(name: string, depth: number, introspection: boolean): void {
    this.inFragment(name, (inner) => this.visit(inner, depth, introspection));
  }

  /** Unknown fragments and cycles are left to validation, which names them. */
  private inFragment(name: string, visit: (inner: SelectionSetNode) => void): void {
    const fragment = this.fragments.get(name);
    if (fragment === undefined || this.open.has(name)) return;
    this.open.add(name);
    visit(fragment.selectionSet);
    this.open.delete(name);
  }

  private raise(limit: string, value: number, maximum: number): void {
    if (value > maximum) throw new Exceeded(tooComplex(limit, maximum, value));
  }
}

/**
 * Checks depth, aliases, root fields and expanded size of every operation and fragment, from syntax alone and before
 * validation, in time linear in `MAX_SELECTIONS`.
 *
 * @returns the refusal, or undefined where the document is within limits.
 */
export function checkDocumentShape(
  document: DocumentNode,
  limits: OperationLimits,
): GraphQLError | undefined {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;
  if (fragments > MAX_FRAGMENTS) return tooComplex('fragments', MAX_FRAGMENTS, fragments);
  try {
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION)
        continue;
      const walk = new ShapeWalk(document, limits);
      // Alone, a fragment is only bounded in size (one of introspection is deeper than others); its uses count in full.
      walk.visit(definition.selectionSet, 0, definition.kind === Kind.FRAGMENT_DEFINITION);
      if (definition.kind === Kind.OPERATION_DEFINITION) {
        const roots = walk.countRoots(definition.selectionSet);
        if (roots > limits.maxRootFields) return tooComplex('root fields', limits.maxRootFields, roots);
      }
    }
    return undefined;
  } catch (error) {
    if (error instanceof Exceeded) return error.refusal;
    throw error;
  }
}
