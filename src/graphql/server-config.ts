/** What one operation may cost; everything above is refused before execution with `QUERY_TOO_COMPLEX`. */
export interface OperationLimits {
  /** Fields below each other, fragments expanded. A note's history in a list of notes is 7 deep. */
  readonly maxDepth: number;
  /** Aliases over the whole operation, fragments expanded. */
  readonly maxAliases: number;
  /** Lexical tokens of the document; the parser stops there. The standard introspection query has about 400; values belong into variables. */
  readonly maxTokens: number;
  /** Fields of Query or Mutation in one operation. */
  readonly maxRootFields: number;
  /** Estimated objects resolved, see `limits/query-cost.ts`. */
  readonly maxCost: number;
}

export interface WebSocketLimits {
  /** Open connections of the whole server; more are refused with 503 before the handshake. */
  readonly maxConnections: number;
  /** Operations that one connection may have open. */
  readonly maxSubscriptions: number;
  /** How long a new connection may stay silent before `connection_init`. */
  readonly connectionInitTimeoutMs: number;
  /** Between pings; a connection that misses one is cut. The API key is checked again at every ping. */
  readonly keepAliveMs: number;
  readonly maxPayloadBytes: number;
}

export interface GraphqlServerConfig {
  readonly host: string;
  /** 0: any free port, which `listen()` tells. */
  readonly port: number;
  readonly introspection: boolean;
  /** Signs cursors: the same for every process of an installation, at least 32 random bytes as text. */
  readonly cursorSecret: string;
  /** Body limit for keys with role reader only. */
  readonly bodyLimitBytes: number;
  /** Body limit for keys that may submit. */
  readonly reviewerBodyLimitBytes: number;
  /** From the whole body to the whole answer; then `TIMED_OUT` and the work is told to stop. */
  readonly requestTimeoutMs: number;
  /** How long `close()` waits for running requests. */
  readonly drainTimeoutMs: number;
  /** Origins (`https://host:port`) whose pages may call from a browser; empty: CORS is off, only same-origin pages. */
  readonly trustedOrigins: readonly string[];
  readonly limits: OperationLimits;
  readonly webSocket: WebSocketLimits;
}

const MEBIBYTE = 1_024 * 1_024;

/** Everything that has a default; host, port and cursorSecret have none here. */
export const GRAPHQL_SERVER_DEFAULTS: Omit<GraphqlServerConfig, 'host' | 'port' | 'cursorSecret'> = {
  introspection: true,
  // buildPrompt: LIMITS.itemLength + LIMITS.baseInstructionsLength = 600,000 units of up to 3 bytes UTF-8, and JSON around.
  bodyLimitBytes: 2 * MEBIBYTE,
  // submitCorrections: 1,000 entries of 16 KB; a batch of longer ones goes in parts.
  reviewerBodyLimitBytes: 16 * MEBIBYTE,
  requestTimeoutMs: 30_000,
  drainTimeoutMs: 10_000,
  trustedOrigins: [],
  limits: {
    maxDepth: 12,
    maxAliases: 30,
    maxTokens: 2_000,
    maxRootFields: 20,
    // notes(first: 200) with every note's history(first: 20) costs about 8,600; submitCorrections of 1,000 about 4,000.
    maxCost: 10_000,
  },
  webSocket: {
    // 300 connections with 20 subscriptions each held 500 MB and slowed writes down 50-fold.
    maxConnections: 100,
    maxSubscriptions: 20,
    connectionInitTimeoutMs: 5_000,
    keepAliveMs: 12_000,
    maxPayloadBytes: 2 * MEBIBYTE,
  },
};
