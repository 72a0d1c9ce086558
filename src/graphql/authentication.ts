import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/api-key.js';
import type { CallOrigin } from '../domain/audit.js';
import { ErrataError } from '../domain/errors.js';
import type { KeyCommands } from '../ports/use-cases.js';

/** Keys that we make have 43 characters and the admin may choose a longer one; beyond this nothing is looked up. */
const BEARER = /^Bearer +(\S{1,512})$/i;

/** Errors: `UNAUTHENTICATED` without a usable key, `STORE_*`. */
export type Authenticate = (authorization: string | undefined, from?: CallOrigin) => Promise<Caller>;

/** From where a request comes: the address of its connection, and what the client calls itself. */
export function originOf(request: IncomingMessage): CallOrigin {
  const { remoteAddress: address } = request.socket;
  const client = request.headers['user-agent'];
  return { via: 'API', ...(address !== undefined && { address }), ...(client !== undefined && { client }) };
}

/** Every request is checked against the store, so that a revoked key ends with its next request. */
export function createAuthenticate(keys: Pick<KeyCommands, 'authenticate'>): Authenticate {
  return async (authorization, from) => {
    const key = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
    const caller = key === undefined ? undefined : await keys.authenticate(key, from);
    if (caller === undefined) {
      throw new ErrataError(
        'UNAUTHENTICATED',
        'Expected "Bearer <api key>" with a key in use for Authorization, received none or another one',
      );
    }
    return caller;
  };
}
