import { ErrataError } from '../../domain/errors.js';
import type { Attributes } from '../../domain/note.js';
import type { AttributeFilter, VectorQuery } from '../../ports/vector-index.js';
import type { TagDirectory } from './note-directory.js';

// See native/index/filter.hpp: a filter is in postfix order, and these lie above every tag.
const AND = 0xffff_ffff;
const OR = 0xffff_fffe;
const NOT = 0xffff_fffd;
const NONE = 0xffff_fffc;

/** The addon keeps 64 pending operands; a level takes at most two of them. */
const DEEPEST = 32;
const LONGEST = 1024;

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function tooLarge(what: string): ErrataError {
  return new ErrataError('INVALID_INPUT', `Expected at most ${what} for where, received more`);
}

/** Terms in an order of their own, so that `a AND b` and `b AND a` are one filter to the addon's cache. */
function compile(filter: AttributeFilter, tags: TagDirectory, depth: number): readonly number[] {
  if (depth > DEEPEST) throw tooLarge(`${DEEPEST} levels`);
  if ('key' in filter) return [tags.tagOf(filter.key, filter.value) ?? NONE];
  if ('not' in filter) return [...compile(filter.not, tags, depth + 1), NOT];
  const [children, operator] = 'all' in filter ? [filter.all, AND] : [filter.any, OR];
  const [first, ...rest] = children
    .map((child) => compile(child, tags, depth + 1))
    .sort((a, b) => byText(a.join(), b.join()));
  if (first === undefined) return operator === AND ? [NONE, NOT] : [NONE];
  return [...first, ...rest.flatMap((terms) => [...terms, operator])];
}

const allOf = (attributes: Attributes): AttributeFilter[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value }));

/**
 * A query's conditions as the addon takes them; undefined where nothing can match. Errors: `INVALID_INPUT` where
 * `where` is deeper than 32 levels or longer than 1,024 terms.
 */
export function compileFilter(
  { attributes = {}, where }: Pick<VectorQuery, 'attributes' | 'where'>,
  tags: TagDirectory,
): Uint32Array | undefined {
  const required = allOf(attributes);
  if (where === undefined) {
    const held = required.map((filter) => compile(filter, tags, 0)[0] ?? NONE);
    // A plain list means all of it.
    return held.includes(NONE) ? undefined : Uint32Array.from(held.sort((a, b) => a - b));
  }
  const terms = compile(required.length === 0 ? where : { all: [...required, where] }, tags, 0);
  if (terms.length > LONGEST) throw tooLarge(`${LONGEST} terms`);
  return Uint32Array.from(terms);
}
