import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hasRole } from '../domain/access.js';
import { ErrataError } from '../domain/errors.js';
import type { Logger } from '../ports/logger.js';
import type { UseCases } from '../ports/use-cases.js';
import type { HttpGraphqlContext, OperationTrace } from './apollo.js';
import { type Authenticate, originOf } from './authentication.js';
import { createContext } from './context.js';
import { toFormattedError } from './error-mapping.js';
import { parseJsonBody, readBody } from './json-body.js';
import type { OperationGate, OperationRequest } from './limits/operation-gate.js';
import type { CursorCodec } from './paging/cursor-codec.js';
import type { GraphqlServerConfig } from './server-config.js';

export const GRAPHQL_PATH = '/graphql';

export interface GraphqlRouteParts {
  readonly apollo: ApolloServer<HttpGraphqlContext>;
  readonly authenticate: Authenticate;
  readonly config: GraphqlServerConfig;
  readonly cursors: CursorCodec;
  readonly gate: OperationGate;
  readonly logger: Logger;
  readonly useCases: UseCases;
}

interface RequestState {
  readonly context: HttpGraphqlContext;
  readonly abort: AbortController;
}

/**
 * `/graphql` over HTTP, in this order: API key (401 before the body is read), body within the role's limit, gate (limits,
 * validation, variables), Apollo. One log line a request: never variables, documents or note text.
 */
export async function registerGraphqlRoute(app: FastifyInstance, parts: GraphqlRouteParts): Promise<void> {
  const { apollo, authenticate, config, cursors, gate, logger, useCases } = parts;
  const states = new WeakMap<object, RequestState>();

  const stateOf = (request: object): RequestState => {
    const state = states.get(request);
    if (state === undefined) throw new ErrataError('INTERNAL', 'Expected an authenticated request');
    return state;
  };
  const setPrepared = (request: FastifyRequest, context: HttpGraphqlContext): void => {
    states.set(request, { ...stateOf(request), context });
  };

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', async (request: FastifyRequest) => {
      const maySubmit = hasRole(stateOf(request).context.caller, 'reviewer');
      return parseJsonBody(
        await readBody(request.raw, maySubmit ? config.reviewerBodyLimitBytes : config.bodyLimitBytes),
      );
    });

    scope.addHook('onRequest', async (request, reply) => {
      if (!URL.canParse(`http://${request.host}/`)) {
        throw new ErrataError('INVALID_INPUT', 'Expected a host name for Host, received another text');
      }
      const caller = await authenticate(request.headers.authorization, originOf(request.raw));
      const abort = new AbortController();
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) abort.abort(new ErrataError('ABORTED', 'Expected a waiting client'));
      });
      const context = createContext({ caller, useCases, cursors, signal: abort.signal });
      const trace: OperationTrace = { codes: [] };
      states.set(request, { abort, context: { ...context, prepared: undefined, trace } });
    });

    scope.addHook('preHandler', async (request, reply) => {
      const asked = readOperationRequest(request);
      if (asked === undefined) return;
      const { context } = stateOf(request);
      const answer = gate.prepare(asked);
      if ('refused' in answer) {
        const errors = answer.refused.map((error) => toFormattedError(error, logger));
        context.trace.codes = errors.map(({ extensions }) => extensions?.code);
        return reply.code(400).send({ errors });
      }
      const { operation } = answer.prepared;
      context.trace.operationName = operation.name?.value;
      context.trace.operationType = operation.operation;
      setPrepared(request, { ...context, prepared: answer.prepared });
      return;
    });

    scope.addHook('onResponse', async (request, reply) => {
      const context = states.get(request)?.context;
      const { operationName, operationType, codes } = context?.trace ?? { codes: [] };
      logger.info(
        {
          operation: operationName?.slice(0, 100),
          type: operationType,
          ms: Math.round(reply.elapsedTime * 100) / 100,
          status: reply.statusCode,
          ...(codes.length > 0 && { codes: [...new Set(codes)] }),
          caller: context?.caller.name,
        },
        'graphql request',
      );
    });

    const run = fastifyApolloHandler(apollo, { context: async (request) => stateOf(request).context });
    scope.route({
      method: ['GET', 'POST'],
      url: GRAPHQL_PATH,
      handler(request, reply) {
        // The integration's types say `schema?: X` where Fastify's say `schema?: X | undefined`; the value is the same.
        const work = run.call(this, request as Parameters<typeof run>[0], reply as Parameters<typeof run>[1]);
        return withDeadline(stateOf(request).abort, config.requestTimeoutMs, work);
      },
    });
  });
}

/** The operation as Apollo will read it, or undefined where Apollo will refuse the request's form. */
function readOperationRequest(request: FastifyRequest): OperationRequest | undefined {
  const source = request.method === 'GET' ? request.query : request.body;
  if (!isRecord(source) || typeof source.query !== 'string' || source.query === '') return undefined;
  const { query, operationName } = source;
  const variables = request.method === 'GET' ? parseVariables(source.variables) : source.variables;
  return {
    query: String(query),
    ...(typeof operationName === 'string' && { operationName }),
    ...(isRecord(variables) && { variables }),
  };
}

function parseVariables(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Apollo answers with what is wrong.
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Tells the work to stop when time is up, and answers without waiting for it. Errors: `TIMED_OUT`, `ABORTED`. */
async function withDeadline<T>(abort: AbortController, timeoutMs: number, work: Promise<T> | T): Promise<T> {
  const timer = setTimeout(() => {
    abort.abort(new ErrataError('TIMED_OUT', `Expected an answer within ${timeoutMs} ms, received none`));
  }, timeoutMs);
  const stopped = new Promise<never>((_resolve, reject) => {
    abort.signal.addEventListener('abort', () => reject(abort.signal.reason), { once: true });
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    clearTimeout(timer);
  }
}
