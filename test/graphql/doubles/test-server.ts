import { type Client, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { createGraphqlServer } from '../../../src/graphql/create-graphql-server.js';
import { GRAPHQL_SERVER_DEFAULTS, type GraphqlServerConfig } from '../../../src/graphql/server-config.js';
import type { UseCases } from '../../../src/ports/use-cases.js';

export interface LogLine {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export interface GraphqlAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape.
  readonly data: any;
  readonly errors: readonly { message: string; path?: unknown; extensions: Record<string, unknown> }[];
  readonly text: string;
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly logs: LogLine[];
  query(
    query: string,
    options?: {
      variables?: object;
      key?: string | null;
      operationName?: string;
      headers?: Record<string, string>;
    },
  ): Promise<GraphqlAnswer>;
  post(body: string | Uint8Array, headers?: Record<string, string>): Promise<GraphqlAnswer>;
  socket(key?: string): Client;
  close(): Promise<void>;
}

async function read(response: Response): Promise<GraphqlAnswer> {
  const text = await response.text();
  const { data, errors = [] } = text === '' ? {} : JSON.parse(text);
  return { status: response.status, headers: response.headers, data, errors, text };
}

/** A server on a free port, as the application would start it. */
export async function startTestServer(
  useCases: UseCases,
  config: Partial<GraphqlServerConfig> = {},
): Promise<TestServer> {
  const logs: LogLine[] = [];
  const log = (level: string) => (fields: object, message: string) => {
    logs.push({ level, fields: fields as Record<string, unknown>, message });
  };
  const server = await createGraphqlServer({
    useCases,
    config: {
      ...GRAPHQL_SERVER_DEFAULTS,
      host: '127.0.0.1',
      port: 0,
      cursorSecret: 'a secret of the tests, thirty-two or more',
      ...config,
    },
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
  });
  const { url, port } = await server.listen();
  const clients: Client[] = [];
  const post: TestServer['post'] = async (body, headers = {}) =>
    read(
      await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer admin-key', ...headers },
        body,
      }),
    );
  return {
    url,
    port,
    logs,
    post,
    query: (query, { variables, key = 'admin-key', operationName, headers = {} } = {}) =>
      post(JSON.stringify({ query, variables, operationName }), {
        ...(key === null ? { authorization: '' } : { authorization: `Bearer ${key}` }),
        ...headers,
      }),
    socket: (key) => {
      const client = createClient({
        url: `ws://127.0.0.1:${port}/graphql`,
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        lazy: true,
        ...(key !== undefined && { connectionParams: { authorization: `Bearer ${key}` } }),
      });
      clients.push(client);
      return client;
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.dispose()));
      await server.close();
    },
  };
}
