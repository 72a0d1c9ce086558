import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb';
import { ErrataError } from '../../domain/errors.js';

/** Codes that mean "not this server, not now": elections, shutdowns, stepped-down primaries, lost write concern. */
const NOT_NOW = new Set([6, 7, 64, 89, 91, 100, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);
const BUSY = new Set([50, 112, 24, 202, 290]);
const NOT_ALLOWED = new Set([13, 18, 8000]);

export function serverCode(error: unknown): number | undefined {
  return error instanceof MongoServerError && typeof error.code === 'number' ? error.code : undefined;
}

/** Whether a unique index refused a document. FerretDB answers an update into a duplicate with code 1. */
export function isDuplicate(error: unknown): boolean {
  return serverCode(error) === 11000;
}

/**
 * Positions that a bulk insert left out because their ids were taken. Anything else that went wrong is thrown: the driver
 * wraps a lost connection in the same class, with no position at all.
 */
export function duplicatePositions(error: unknown): ReadonlySet<number> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
  const onlyDuplicates = failures.length > 0 && failures.every((failure) => failure.code === 11000);
  if (onlyDuplicates && error.result.getWriteConcernError() === undefined) {
    return new Set(failures.map((failure) => failure.index));
  }
  const original: unknown = error.errorResponse;
  throw original instanceof Error ? original : error;
}

/** Whether the server has no change streams: 40573 stands alone, 238 not implemented, 40324 unknown stage. */
export function hasNoChangeStreams(error: unknown): boolean {
  return [40573, 238, 40324, 59, 115].includes(serverCode(error) ?? 0);
}

/**
 * A driver error as the port's, naming the servers but never the URI, which may hold a password. The driver's error is
 * kept as the cause.
 */
export function fromMongo(error: unknown, servers: string): unknown {
  if (error instanceof ErrataError || !(error instanceof MongoError)) return error;
  const code = serverCode(error);
  const options = { cause: error, details: { name: error.name, ...(code === undefined ? {} : { code }) } };
  const received = code === undefined ? error.name : `code ${code}`;
  if (code !== undefined && NOT_ALLOWED.has(code)) {
    const message = `Expected MongoDB at ${servers} to let this user in, received ${received}: check user, password, authSource and roles (readWrite on the database)`;
    return new ErrataError('STORE_UNAVAILABLE', message, options);
  }
  if (code !== undefined && BUSY.has(code)) {
    return new ErrataError(
      'STORE_BUSY',
      `Expected MongoDB at ${servers} to answer in time, received ${received}`,
      options,
    );
  }
  if (isUnreachable(error) || (code !== undefined && NOT_NOW.has(code))) {
    const message = `Expected MongoDB at ${servers} to answer, received ${received}: check that it runs, that host and port are right, the firewall, TLS, and the replica set's name`;
    return new ErrataError('STORE_UNAVAILABLE', message, options);
  }
  return new ErrataError(
    'INTERNAL',
    `Expected MongoDB at ${servers} to run a command, received ${received}`,
    options,
  );
}

function isUnreachable(error: MongoError): boolean {
  return (
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNetworkError ||
    error instanceof MongoNotConnectedError ||
    error instanceof MongoTopologyClosedError
  );
}
