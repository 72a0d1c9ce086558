import { z } from 'zod';
import { ErrataError } from '../../domain/errors.js';
import type { Indexed } from './hosted-shapes.js';

/**
 * Values in the order of the request, whatever order they came in.
 *
 * Errors: `MODEL_UNAVAILABLE` for an answer of another form, a missing, doubled or unknown index.
 */
export function inOrder<T>(parse: () => Indexed<T>, count: number, what: string): readonly T[] {
  let answer: Indexed<T>;
  try {
    answer = parse();
  } catch (cause) {
    if (!(cause instanceof z.ZodError)) throw cause;
    // Without the cause: it quotes what was received.
    const where = cause.issues.map(({ path }) => path.join('.')).slice(0, 3);
    throw new ErrataError(
      'MODEL_UNAVAILABLE',
      `Expected ${what} from the service, received another form at ${where}`,
    );
  }
  const values = new Map(answer.items.map(({ index, value }) => [index, value]));
  const ordered: T[] = [];
  for (let index = 0; index < count; index += 1) {
    const value = values.get(index);
    if (value !== undefined) ordered.push(value);
  }
  if (ordered.length === count && answer.items.length === count) return ordered;
  throw new ErrataError(
    'MODEL_UNAVAILABLE',
    `Expected ${count} ${what} with indexes of their own, received ${answer.items.length} with ${values.size}`,
  );
}
