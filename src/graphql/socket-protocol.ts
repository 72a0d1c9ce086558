import { type ExecutionArgs, type GraphQLError, type GraphQLSchema, OperationTypeNode } from 'graphql';
import { type ConnectionInitMessage, type Context, makeServer, type Server } from 'graphql-ws';
import type { Caller } from '../domain/api-key.js';
import type { CallOrigin } from '../domain/audit.js';
import { ErrataError, isErrataError } from '../domain/errors.js';
import type { Logger } from '../ports/logger.js';
import type { UseCases } from '../ports/use-cases.js';
import type { Authenticate } from './authentication.js';
import { createContext } from './context.js';
import { toFormattedError } from './error-mapping.js';
import type { OperationGate } from './limits/operation-gate.js';
import { refusal, tooComplex } from './limits/refusal.js';
import type { CursorCodec } from './paging/cursor-codec.js';
import type { GraphqlServerConfig } from './server-config.js';

export interface WebSocketParts {
  readonly authenticate: Authenticate;
  readonly config: GraphqlServerConfig;
  readonly cursors: CursorCodec;
  readonly gate: OperationGate;
  readonly logger: Logger;
  readonly schema: GraphQLSchema;
  readonly useCases: UseCases;
}

/** graphql-transport-ws: 4401 is its code for a missing or refused key. */
export const UNAUTHORIZED_CLOSE = 4_401;

interface RunningOperation {
  readonly abort: AbortController;
  readonly startedAtMs: number;
  readonly name: string | undefined;
  readonly type: string;
}

/** What one connection keeps. */
export interface SocketSession {
  authorization: string | undefined;
  readonly origin: CallOrigin;
  caller?: Caller | undefined;
  readonly operations: Map<string, RunningOperation>;
  /** Closes the connection for want of a key. */
  readonly refuse: () => void;
}

type SocketContext = Context<ConnectionInitMessage['payload'], SocketSession>;

/** The protocol's state machine with our gate, context, limits and error form. */
export function createSocketProtocol(parts: WebSocketParts): Server<SocketSession> {
  const { authenticate, config, cursors, gate, logger, schema, useCases } = parts;

  /** Errors: `UNAUTHENTICATED`, `STORE_*`. */
  const identify = async (
    session: SocketSession,
    params: SocketContext['connectionParams'],
  ): Promise<void> => {
    const given = params?.authorization ?? params?.Authorization;
    if (typeof given === 'string') session.authorization = given;
    session.caller = await authenticate(session.authorization, session.origin);
  };

  const finish = (session: SocketSession, id: string, codes: readonly unknown[]): void => {
    const running = session.operations.get(id);
    if (running === undefined) return;
    session.operations.delete(id);
    running.abort.abort(new ErrataError('ABORTED', 'Expected a waiting client'));
    logger.info(
      {
        operation: running.name?.slice(0, 100),
        type: running.type,
        ms: Math.round((performance.now() - running.startedAtMs) * 100) / 100,
        transport: 'websocket',
        ...(codes.length > 0 && { codes }),
        caller: session.caller?.name,
      },
      'graphql request',
    );
  };

  return makeServer<ConnectionInitMessage['payload'], SocketSession>({
    connectionInitWaitTimeout: config.webSocket.connectionInitTimeoutMs,
    onConnect: async ({ extra, connectionParams }) => {
      try {
        await identify(extra, connectionParams);
        return true;
      } catch (error) {
        if (!isErrataError(error)) throw error;
        extra.refuse();
        return false;
      }
    },
    onSubscribe: async (context, id, payload): Promise<ExecutionArgs | readonly GraphQLError[]> => {
      const session = context.extra;
      const open = Object.keys(context.subscriptions).length;
      const { maxSubscriptions } = config.webSocket;
      if (open > maxSubscriptions) return [tooComplex('open operations', maxSubscriptions, open)];
      // Not the caller of the connection's start: a key may have lost its roles since.
      const caller = await authenticate(session.authorization, session.origin).catch(
        (error: unknown) => error,
      );
      if (caller instanceof Error) {
        return [
          isErrataError(caller, 'UNAUTHENTICATED')
            ? refusal('UNAUTHENTICATED', caller.message)
            : refusal('STORE_UNAVAILABLE', 'Expected a store that answers, received none'),
        ];
      }
      session.caller = caller as Caller;
      const answer = gate.prepare(payload);
      if ('refused' in answer) return answer.refused;
      const { document, operation } = answer.prepared;
      const abort = new AbortController();
      const live = operation.operation === OperationTypeNode.SUBSCRIPTION;
      session.operations.set(id, {
        abort,
        startedAtMs: performance.now(),
        name: operation.name?.value,
        type: operation.operation,
      });
      return {
        schema,
        document,
        operationName: payload.operationName ?? null,
        variableValues: payload.variables ?? null,
        contextValue: createContext({
          caller: session.caller,
          useCases,
          cursors,
          signal: abort.signal,
          live,
        }),
      };
    },
    onNext: (_context, _id, _payload, _args, result) =>
      result.errors === undefined
        ? undefined
        : {
            data: result.data ?? null,
            errors: result.errors.map((error) => toFormattedError(error, logger)),
          },
    onError: ({ extra }, id, _payload, errors) => {
      const formatted = errors.map((error) => toFormattedError(error, logger));
      finish(
        extra,
        id,
        formatted.map(({ extensions }) => extensions?.code),
      );
      return formatted;
    },
    onComplete: ({ extra }, id) => finish(extra, id, []),
    onClose: ({ extra }) => {
      for (const id of [...extra.operations.keys()]) finish(extra, id, []);
    },
  });
}
