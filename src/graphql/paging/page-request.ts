import { ErrataError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { PageRequest } from '../../ports/note-store.js';
import type { CursorCodec } from './cursor-codec.js';

export const DEFAULT_PAGE_SIZE = 20;

/** Relay's paging arguments as GraphQL gives them. */
export interface PageArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** Errors: `INVALID_INPUT` outside 1…`LIMITS.pageSize`. */
export function readPageSize(name: string, size: number): number {
  if (size < 1 || size > LIMITS.pageSize) {
    throw new ErrataError('INVALID_INPUT', `Expected 1…${LIMITS.pageSize} for ${name}, received ${size}`, {
      details: { field: name, minimum: 1, maximum: LIMITS.pageSize },
    });
  }
  return size;
}

/**
 * Relay's rules: `first` counts from the start, `last` from the end, never both; neither means the first
 * `DEFAULT_PAGE_SIZE`. Cursors may bound either side.
 *
 * Errors: `INVALID_INPUT`, `INVALID_CURSOR`.
 */
export function readPageRequest(page: PageArguments, cursors: CursorCodec, binding: string): PageRequest {
  const { first, last, after, before } = page;
  if (first != null && last != null) {
    throw new ErrataError('INVALID_INPUT', 'Expected one of first and last, received both', {
      details: { field: 'first' },
    });
  }
  const backwards = last != null;
  const limit = backwards ? readPageSize('last', last) : readPageSize('first', first ?? DEFAULT_PAGE_SIZE);
  return {
    limit,
    ...(after != null && { after: cursors.decode(binding, after) }),
    ...(before != null && { before: cursors.decode(binding, before) }),
    ...(backwards && { backwards }),
  };
}
