import { ErrataError } from '../../domain/errors.js';
import type { Page, PageRequest } from '../../ports/note-store.js';

/** What a page needs to know: the rows found in its window (one more than asked for, if there is one) and its edges. */
export interface WindowRows<Row> {
  /** At most `limit + 1` rows, in the direction of travel: reversed for a page from the end. */
  readonly rows: readonly Row[];
  /** Whether the list holds anything at or before `after`, and at or after `before`. False where not given. */
  readonly beyondAfter: boolean;
  readonly beyondBefore: boolean;
}

export function checkLimit(page: PageRequest): void {
  if (Number.isSafeInteger(page.limit) && page.limit >= 1) return;
  throw new ErrataError(
    'INVALID_INPUT',
    `Expected an integer of 1 or more for limit, received ${page.limit}`,
  );
}

/** Cuts a window's rows to a page in list order; both `has…` are exact, also for an empty page. */
export function toPage<T>(
  page: PageRequest,
  window: WindowRows<{ item: T; keyset: readonly (string | number)[] }>,
): Page<T> {
  const more = window.rows.length > page.limit;
  const shown = window.rows.slice(0, page.limit);
  if (page.backwards) shown.reverse();
  return {
    items: shown.map((row) => row.item),
    keysets: shown.map((row) => row.keyset),
    hasNext: page.backwards ? window.beyondBefore : more || window.beyondBefore,
    hasPrevious: page.backwards ? more || window.beyondAfter : window.beyondAfter,
  };
}
