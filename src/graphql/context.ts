import type { Caller } from '../domain/api-key.js';
import type { UseCases } from '../ports/use-cases.js';
import type { CursorCodec } from './paging/cursor-codec.js';
import { createRequestLoaders, type RequestLoaders } from './request-loaders.js';

/** What resolvers get: one object a request (over WebSocket: one an operation). */
export interface GraphqlContext {
  readonly caller: Caller;
  readonly useCases: UseCases;
  readonly loaders: RequestLoaders;
  readonly cursors: CursorCodec;
  /** Fires when the client is gone or the request took too long. */
  readonly signal: AbortSignal;
}

export interface ContextParts {
  readonly caller: Caller;
  readonly useCases: UseCases;
  readonly cursors: CursorCodec;
  readonly signal: AbortSignal;
  /** Subscriptions run every event on the same context: what they load must not be remembered. */
  readonly live?: boolean;
}

export function createContext(parts: ContextParts): GraphqlContext {
  const { caller, useCases, cursors, signal } = parts;
  return {
    caller,
    useCases,
    cursors,
    signal,
    loaders: createRequestLoaders(useCases.notes, { remember: parts.live !== true }),
  };
}
