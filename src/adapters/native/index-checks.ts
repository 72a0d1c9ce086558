import { ErrataError } from '../../domain/errors.js';
import type { IndexedNote, IndexRemoval, RowKind, VectorQuery } from '../../ports/vector-index.js';
import { errorCode } from './load-addon.js';

/** Order is the native row kind: 0 lesson, 1 situation. */
export const ROW_KINDS = ['lesson', 'situation'] as const satisfies readonly RowKind[];

/** The addon's bound on `efSearch`; a beam wider than this is a scan. */
const LARGEST_BEAM = 65_536;
/** Vectors come from float32 arithmetic (error near 1e-7) or half-precision stores (near 5e-4). */
const UNIT_TOLERANCE = 1e-3;

const described = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null
    ? String(value)
    : typeof value;

/** Throws `INVALID_VECTOR` unless `vector` is a finite, unit-length `Float32Array` of the given size. */
export function checkVector(vector: Float32Array, dimensions: number, name: string): void {
  if (!(vector instanceof Float32Array)) {
    throw new ErrataError(
      'INVALID_VECTOR',
      `Expected Float32Array for ${name}, received ${described(vector)}`,
    );
  }
  if (vector.length !== dimensions) {
    const detached = vector.length === 0 ? ' (an empty or detached array)' : '';
    throw new ErrataError(
      'INVALID_VECTOR',
      `Expected ${dimensions} numbers for ${name}, received ${vector.length}${detached}`,
    );
  }
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (!Number.isFinite(squares)) {
    throw new ErrataError('INVALID_VECTOR', `Expected finite numbers for ${name}, received NaN or infinity`);
  }
  const norm = Math.sqrt(squares);
  if (Math.abs(norm - 1) > UNIT_TOLERANCE) {
    throw new ErrataError('INVALID_VECTOR', `Expected unit length for ${name}, received length ${norm}`);
  }
}

function checkVersion(version: number, name: string): void {
  if (Number.isSafeInteger(version) && version >= 0) return;
  throw new ErrataError(
    'INVALID_INPUT',
    `Expected a whole number for ${name}, received ${described(version)}`,
  );
}

export function checkNote(note: IndexedNote, dimensions: number): void {
  checkVersion(note.version, 'version');
  let rows = 0;
  for (const kind of ROW_KINDS) {
    const vector = note.vectors[kind];
    if (vector === undefined) continue;
    checkVector(vector, dimensions, `vectors.${kind}`);
    rows += 1;
  }
  if (rows === 0)
    throw new ErrataError('INVALID_VECTOR', 'Expected at least one vector for vectors, received none');
}

export function checkRemoval(removal: IndexRemoval): void {
  checkVersion(removal.version, 'version');
}

export function checkQuery(query: VectorQuery, dimensions: number): void {
  checkVector(query.vector, dimensions, 'vector');
  if (!Number.isSafeInteger(query.k) || query.k < 1) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected a whole number of at least 1 for k, received ${described(query.k)}`,
    );
  }
  const ef = query.efSearch;
  if (ef !== undefined && (!Number.isInteger(ef) || ef < 1 || ef > LARGEST_BEAM)) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected a whole number from 1 to ${LARGEST_BEAM} for efSearch, received ${described(ef)}`,
    );
  }
}

/** Turns what the addon throws into an ErrataError; its codes are those of the domain but for OUT_OF_MEMORY. */
export function fromNative(error: unknown): ErrataError {
  if (error instanceof ErrataError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = errorCode(error);
  switch (code) {
    case 'INVALID_VECTOR':
      return new ErrataError('INVALID_VECTOR', message, { cause: error });
    case 'INVALID_CONFIG':
      return new ErrataError('INVALID_CONFIG', message, { cause: error });
    case 'INVALID_INPUT':
      return new ErrataError('INVALID_INPUT', message, { cause: error });
    case 'CLOSED':
      return new ErrataError('CLOSED', message, { cause: error });
    case 'QUEUE_FULL':
    case 'TIMED_OUT':
    case 'ABORTED':
      return new ErrataError(code, message, { cause: error });
    case 'OUT_OF_MEMORY':
    case 'CORRUPT_RECORD': // the mapped snapshot; whoever restored it learns of it and fills the index anew
      return new ErrataError('INDEX_UNAVAILABLE', message, { cause: error });
    default:
      return new ErrataError('INTERNAL', message, { cause: error });
  }
}
