import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { Logger } from '../ports/logger.js';
import type { GraphqlContext } from './context.js';
import { toFormattedError } from './error-mapping.js';
import type { PreparedOperation } from './limits/operation-gate.js';
import { refusal } from './limits/refusal.js';

/** What happened to one HTTP request, for its log line. */
export interface OperationTrace {
  operationName?: string | undefined;
  operationType?: string | undefined;
  /** Codes of the errors in the answer. */
  codes: readonly unknown[];
}

export interface HttpGraphqlContext extends GraphqlContext {
  /** Absent only where Apollo itself refuses the request's form. */
  readonly prepared: PreparedOperation | undefined;
  readonly trace: OperationTrace;
}

/**
 * Hands Apollo the document that the gate has parsed and validated, which makes Apollo skip both: without a document store
 * it only parses where none is set. Anything that did not pass the gate never executes.
 */
const useGate: ApolloServerPlugin<HttpGraphqlContext> = {
  requestDidStart: async () => ({
    didResolveSource: async (requestContext) => {
      const { prepared } = requestContext.contextValue;
      if (prepared !== undefined) {
        (requestContext as { document?: DocumentNode }).document = prepared.document;
      }
    },
    didResolveOperation: async ({ contextValue }) => {
      if (contextValue.prepared === undefined) {
        throw refusal('BAD_REQUEST', 'Expected one GraphQL operation for the request, received another form');
      }
    },
    willSendResponse: async ({ contextValue, response }) => {
      if (response.body.kind !== 'single') return;
      contextValue.trace.codes = (response.body.singleResult.errors ?? []).map(
        ({ extensions }) => extensions?.code,
      );
    },
  }),
};

/** Apollo as the HTTP protocol layer: media types, GET, CSRF, error envelopes. Reporting and landing pages are off, nothing leaves the machine. */
export function createApollo(options: {
  schema: GraphQLSchema;
  introspection: boolean;
  logger: Logger;
}): ApolloServer<HttpGraphqlContext> {
  const { schema, introspection, logger } = options;
  const log =
    (level: keyof Logger) =>
    (message: unknown): void =>
      // Apollo's texts may quote requests; its codes are in our own log line.
      logger[level]({ source: 'apollo', kind: typeof message }, 'message of the GraphQL server');
  return new ApolloServer<HttpGraphqlContext>({
    schema,
    introspection,
    logger: { debug: log('debug'), info: log('debug'), warn: log('warn'), error: log('warn') },
    formatError: (_formatted, error) => toFormattedError(error, logger),
    includeStacktraceInErrorResponses: false,
    hideSchemaDetailsFromClientErrors: !introspection,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    documentStore: null,
    stopOnTerminationSignals: false,
    // Given, so that Apollo does not decide by the environment.
    nodeEnv: 'production',
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      useGate,
    ],
  });
}
