import type { BatchWish, ExecutionProvider } from '../domain/inference.js';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a request to the GraphQL server may cost; refused before anything runs. */
export interface RequestLimits {
  /** Of keys that may submit. */
  readonly maxBodyBytes: number;
  readonly maxDepth: number;
  readonly maxAliases: number;
  /** Lexical tokens of a GraphQL document. */
  readonly maxTokens: number;
  /** Estimated objects of an answer. */
  readonly maxCost: number;
}

/** Graphs of the vector index (HNSW). */
export interface GraphSettings {
  /** Vectors from which a partition gets a graph. */
  readonly threshold: number;
  readonly connectivity: number;
  readonly efConstruction: number;
  /** Of searches that name none. */
  readonly efSearch: number;
}

/** Of the standard variables; addresses may hold passwords and are never printed. */
export interface Proxies {
  readonly http?: string | undefined;
  readonly https?: string | undefined;
  readonly bypass?: string | undefined;
}

/** Everything that can be set at start-up. Deep-frozen; made by `parseConfig` only. */
export interface Config {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absolute path; holds the SQLite store and the vector index's snapshot. */
  readonly dataDir: string;
  /** Whether the vector index is kept in the data folder, for a quick next start. */
  readonly snapshots: boolean;
  /** Absolute path; models are shared by every data folder of the checkout. */
  readonly modelsDir: string;
  /** The first admin key; none: one is made and shown once. Never printed. */
  readonly adminKey?: string | undefined;
  /** Whether the first start loads the sample namespace. */
  readonly sample: boolean;
  readonly embedder: string;
  /** `late-interaction` or the name of a reranker; none: the match score stands. */
  readonly reranker?: string | undefined;
  /** Whether nothing may be asked of the network but the store. */
  readonly offline: boolean;
  /** Of hosted models; none: the service's own address. Keys are never printed. */
  readonly embedderUrl?: string | undefined;
  readonly embedderKey?: string | undefined;
  readonly rerankerUrl?: string | undefined;
  readonly rerankerKey?: string | undefined;
  /** A mirror of the Hugging Face hub; none: the hub itself. */
  readonly hubUrl?: string | undefined;
  readonly proxies: Proxies;
  /** None: the embedded SQLite store. Never printed: it may hold a password. */
  readonly mongodbUri?: string | undefined;
  /** Origins whose pages may call from a browser; empty: same-origin pages only. */
  readonly trustedOrigins: readonly string[];
  readonly introspection: boolean;
  readonly logLevel: LogLevel;
  /** Whether phone numbers are redacted beside other personal data. */
  readonly redactPhones: boolean;
  /** Minutes from one staleness sweep to the next; 0: none is scheduled. */
  readonly sweepMinutes: number;
  /** Threads that run the embedding model. */
  readonly workers: number;
  /** Tried in order by local models. */
  readonly executionProviders: readonly ExecutionProvider[];
  /** Which texts may share a run of a local embedding model. */
  readonly batches: BatchWish;
  /** Threads that search and write the vector index. */
  readonly indexThreads: number;
  readonly graph: GraphSettings;
  /** Where the keys of encryption at rest are; at most one of the three is set. */
  readonly keyFile?: string | undefined;
  /** Never printed. */
  readonly keys?: string | undefined;
  readonly keyCommand?: string | undefined;
  /** How long a job of a process that died waits before another one takes it. */
  readonly jobLeaseMs: number;
  /** Processes that a job may take down without progress before it has failed. */
  readonly jobLosses: number;
  /** Name or folder of a sequence classifier that the injection screen asks, too; none: rules and trained signal only. */
  readonly screenModel?: string | undefined;
  /** Lower bound of the share of harmful verdicts beyond which a note goes back to a reviewer. */
  readonly harmLimit: number;
  /** Share of answers that go without one of their notes; 0: none. */
  readonly withholdShare: number;
  /** Whether `/metrics` is served. */
  readonly metrics: boolean;
  /** Of a collector that takes OTLP over HTTP; none: no traces. */
  readonly tracesUrl?: string | undefined;
  /** Share of answers whose recall is measured by an exact search; only with metrics. */
  readonly recallShare: number;
  /** An OpenAI-compatible service, up to `/v1`: only `errata answers ask` and judged measures use it. */
  readonly chatUrl?: string | undefined;
  readonly chatModel?: string | undefined;
  /** Never printed. */
  readonly chatKey?: string | undefined;
  readonly limits: RequestLimits;
}
