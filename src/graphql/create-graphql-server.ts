import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { ErrataError } from '../domain/errors.js';
import type { Logger } from '../ports/logger.js';
import type { MetricsPage } from '../ports/telemetry.js';
import type { UseCases } from '../ports/use-cases.js';
import { createApollo } from './apollo.js';
import { createAuthenticate } from './authentication.js';
import { buildGraphqlSchema } from './build-schema.js';
import { registerCrossOrigin } from './cross-origin.js';
import { httpStatusOf, toFormattedError } from './error-mapping.js';
import { GRAPHQL_PATH, registerGraphqlRoute } from './graphql-route.js';
import { registerHealthRoutes } from './health-routes.js';
import { createOperationGate } from './limits/operation-gate.js';
import { registerMetricsRoute } from './metrics-route.js';
import { createCursorCodec } from './paging/cursor-codec.js';
import type { GraphqlServerConfig } from './server-config.js';
import { attachWebSocket } from './web-socket-endpoint.js';

export interface GraphqlServerOptions {
  /** Opened and closed by the caller; the server only calls it. */
  readonly useCases: UseCases;
  readonly config: GraphqlServerConfig;
  readonly logger: Logger;
  /** Served as `/metrics`; none: there is no such path. */
  readonly metrics?: MetricsPage | undefined;
  /** Runs what handles a request, such as within the caller's trace. */
  readonly within?: ((headers: IncomingHttpHeaders, work: () => void) => void) | undefined;
}

export interface GraphqlServer {
  /** Resolves when requests are answered. `url` has no path. Errors: `CLOSED` after `close()`, `INVALID_CONFIG` for a host or port that cannot be had. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Refuses new work, waits up to `drainTimeoutMs` for running requests, ends subscriptions. Idempotent. */
  close(): Promise<void>;
}

/** HTTP and WebSocket server for `/graphql`, `/healthz` and `/readyz`. */
export async function createGraphqlServer(options: GraphqlServerOptions): Promise<GraphqlServer> {
  const { useCases, config, logger, metrics, within } = options;
  const schema = buildGraphqlSchema();
  const { introspection, limits } = config;
  const apollo = createApollo({ schema, introspection, logger });
  await apollo.start();
  const parts = {
    authenticate: createAuthenticate(useCases.keys),
    config,
    cursors: createCursorCodec(config.cursorSecret),
    gate: createOperationGate({ schema, limits, introspection }),
    logger,
    useCases,
  };
  const app = Fastify({
    logger: false,
    forceCloseConnections: 'idle',
    requestTimeout: config.requestTimeoutMs,
    bodyLimit: config.reviewerBodyLimitBytes,
  });
  answerErrors(app, logger);
  if (within !== undefined) {
    app.addHook('onRequest', (request, _reply, done) => within(request.headers, done));
  }
  registerCrossOrigin(app, config.trustedOrigins);
  registerHealthRoutes(app, useCases);
  if (metrics !== undefined) registerMetricsRoute(app, metrics, parts.authenticate);
  await registerGraphqlRoute(app, { ...parts, apollo });
  const sockets = attachWebSocket(app.server, { ...parts, schema });

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await sockets.close();
    const timer = setTimeout(() => app.server.closeAllConnections(), config.drainTimeoutMs);
    await app.close();
    clearTimeout(timer);
    await apollo.stop();
  };
  return {
    listen: async () => {
      if (closing !== undefined)
        throw new ErrataError('CLOSED', 'Expected an open server, received a closed one');
      await app.listen({ host: config.host, port: config.port }).catch((cause: unknown) => {
        throw listenError(config, cause);
      });
      const { port } = app.server.address() as AddressInfo;
      return { url: `http://${urlHost(config.host)}:${port}`, port };
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function listenError({ host, port }: GraphqlServerConfig, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'which is in use; set another port (--port, ERRATA_PORT) or stop what runs there',
    EACCES: 'which this user may not open',
    EADDRNOTAVAIL: 'which is not an address of this machine',
    ENOTFOUND: 'which is a host without an address',
  };
  const reason = typeof code === 'string' ? reasons[code] : undefined;
  if (reason === undefined) return cause;
  return new ErrataError(
    'INVALID_CONFIG',
    `Expected a free address to listen on, received ${host}:${port}, ${reason}`,
    {
      cause,
      details: { host, port },
    },
  );
}

/** A host that a client on this machine can use. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Everything that ends before GraphQL runs still answers in GraphQL's form, so that clients read one form only. */
function answerErrors(app: FastifyInstance, logger: Logger): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
  });
  app.setErrorHandler((error, _request, reply) => {
    const formatted = toFormattedError(translate(error), logger);
    const status = httpStatusOf(formatted.extensions?.code);
    if (status === 401) reply.header('www-authenticate', 'Bearer');
    return reply.code(unsupportedMedia(error) ? 415 : status).send({ errors: [formatted] });
  });
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({
      errors: [
        toFormattedError(
          new ErrataError(
            'INVALID_INPUT',
            `Expected ${GRAPHQL_PATH}, /healthz or /readyz for the path, received another`,
          ),
          logger,
        ),
      ],
    }),
  );
}

const unsupportedMedia = (error: unknown): boolean =>
  error instanceof Error && 'statusCode' in error && error.statusCode === 415;

/** Fastify's own refusals (broken framing, media types, lengths) are the client's to mend. */
function translate(error: unknown): unknown {
  if (error instanceof ErrataError || !(error instanceof Error) || !('statusCode' in error)) return error;
  const status = Number(error.statusCode);
  if (status === 413)
    return new ErrataError('INPUT_TOO_LARGE', 'Expected a smaller body, received a larger one');
  if (status === 415) {
    return new ErrataError('INVALID_INPUT', 'Expected application/json for Content-Type, received another', {
      details: { field: 'content-type' },
    });
  }
  if (status === 503)
    return new ErrataError('CLOSED', 'Expected a running server, received one that shuts down');
  return status >= 400 && status < 500
    ? new ErrataError('INVALID_INPUT', 'Expected a well-formed HTTP request, received another')
    : error;
}
