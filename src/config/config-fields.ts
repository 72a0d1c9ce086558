import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { LOG_LEVELS } from './config.js';

/** One thing that can be set. This table drives parsing, `--help` and the README's table of settings. */
export interface ConfigField {
  readonly key: string;
  readonly env: string;
  /** Long flag without dashes; none where only the environment makes sense. */
  readonly flag?: string | undefined;
  /** What stands after the flag in help texts. */
  readonly placeholder: string;
  /** As shown; the parsed default is `fallback`. */
  readonly default: string;
  readonly fallback: string | undefined;
  readonly description: string;
  /** Completes "Expected … for NAME". */
  readonly expected: string;
  readonly schema: z.ZodType<unknown, string>;
  /** Never shown in messages. */
  readonly secret?: true;
}

const text = z.string().trim().min(1);
const yesNo = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0', 'yes', 'no']))
  .transform((value) => value === 'true' || value === '1' || value === 'yes');

function whole(min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^\d{1,12}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));
}

/** Inference scales with cores up to about 4 threads of one int8 model each; beyond that memory grows and speed does not. */
const defaultWorkers = Math.max(1, Math.min(4, availableParallelism() - 1));

function flagField(field: Omit<ConfigField, 'fallback'> & { fallback?: string }): ConfigField {
  return { fallback: field.default, ...field };
}

function limit(key: string, env: string, fallback: number, max: number, description: string): ConfigField {
  return flagField({
    key: `limits.${key}`,
    env: `ERRATA_${env}`,
    flag: env.toLowerCase().replaceAll('_', '-'),
    placeholder: 'n',
    default: String(fallback),
    description,
    expected: `a whole number between 1 and ${max}`,
    schema: whole(1, max),
  });
}

const trueOrFalse = 'true or false';

export const CONFIG_FIELDS: readonly ConfigField[] = [
  flagField({
    key: 'host',
    env: 'ERRATA_HOST',
    flag: 'host',
    placeholder: 'address',
    default: '127.0.0.1',
    description: 'address to listen on; anything but loopback needs TLS in front',
    expected: 'an address or host name',
    schema: text.pipe(z.string().regex(/^[0-9A-Za-z.:_-]+$/)),
  }),
  flagField({
    key: 'port',
    env: 'ERRATA_PORT',
    flag: 'port',
    placeholder: 'n',
    default: '4000',
    description: 'port to listen on; 0 takes any free one',
    expected: 'a whole number between 0 and 65535',
    schema: whole(0, 65_535),
  }),
  flagField({
    key: 'dataDir',
    env: 'ERRATA_DATA',
    flag: 'data',
    placeholder: 'folder',
    default: './data',
    description: 'folder of the embedded SQLite store and the index snapshots',
    expected: 'a folder',
    schema: text,
  }),
  {
    key: 'mongodbUri',
    env: 'MONGODB_URI',
    flag: 'mongodb-uri',
    placeholder: 'uri',
    default: 'none: SQLite',
    fallback: undefined,
    description: 'store notes in MongoDB; prefer the variable, flags show in process lists',
    expected: 'an address that starts with mongodb:// or mongodb+srv://',
    schema: z.string().regex(/^mongodb(\+srv)?:\/\/./),
    secret: true,
  },
  {
    key: 'adminKey',
    env: 'ERRATA_ADMIN_KEY',
    flag: 'admin-key',
    placeholder: 'key',
    default: 'made and shown once',
    fallback: undefined,
    description: 'the first admin key, at least 24 characters; prefer the variable',
    expected: 'at least 24 visible ASCII characters',
    schema: z.string().regex(/^[\x21-\x7e]{24,512}$/),
    secret: true,
  },
  flagField({
    key: 'sample',
    env: 'ERRATA_SAMPLE',
    flag: 'sample',
    placeholder: 'true|false',
    default: 'true',
    description: 'load the sample namespace on the first start',
    expected: trueOrFalse,
    schema: yesNo,
  }),
  flagField({
    key: 'embedder',
    env: 'ERRATA_EMBEDDER',
    flag: 'embedder',
    placeholder: 'name',
    default: 'all-MiniLM-L6-v2',
    description: 'embedding model; "errata models list" shows the known ones',
    expected: 'the name of a model',
    schema: text,
  }),
  flagField({
    key: 'reranker',
    env: 'ERRATA_RERANKER',
    flag: 'reranker',
    placeholder: 'name',
    default: 'none',
    description: 'reranking model; none: the order of retrieval stands',
    expected: 'the name of a model, or none',
    schema: text.transform((value) => (value === 'none' ? undefined : value)),
  }),
  {
    key: 'modelsDir',
    env: 'ERRATA_MODELS',
    flag: 'models-dir',
    placeholder: 'folder',
    default: '.cache/models in the installation',
    fallback: undefined,
    description: 'folder of the downloaded models',
    expected: 'a folder',
    schema: text,
  },
  {
    key: 'workers',
    env: 'ERRATA_WORKERS',
    flag: 'workers',
    placeholder: 'n',
    default: 'cores - 1, at most 4',
    fallback: String(defaultWorkers),
    description: 'threads that run the embedding model',
    expected: 'a whole number between 1 and 64',
    schema: whole(1, 64),
  },
  flagField({
    key: 'introspection',
    env: 'ERRATA_INTROSPECTION',
    flag: 'introspection',
    placeholder: 'true|false',
    default: 'true',
    description: 'whether GraphQL tells its schema',
    expected: trueOrFalse,
    schema: yesNo,
  }),
  flagField({
    key: 'logLevel',
    env: 'ERRATA_LOG_LEVEL',
    flag: 'log-level',
    placeholder: 'level',
    default: 'warn',
    description: 'JSON lines on standard error: silent, error, warn, info, debug',
    expected: `one of ${LOG_LEVELS.join(', ')}`,
    schema: z.string().toLowerCase().pipe(z.enum(LOG_LEVELS)),
  }),
  limit('maxBodyBytes', 'MAX_BODY_BYTES', 4_194_304, 268_435_456, 'largest request body in bytes'),
  limit('maxDepth', 'MAX_DEPTH', 12, 100, 'deepest GraphQL selection'),
  limit('maxAliases', 'MAX_ALIASES', 30, 10_000, 'aliases in a GraphQL document'),
  limit('maxTokens', 'MAX_TOKENS', 4_000, 1_000_000, 'tokens in a GraphQL document'),
  limit('maxCost', 'MAX_COST', 20_000, 10_000_000, 'estimated fields of a GraphQL answer'),
  {
    key: 'isa',
    env: 'ERRATA_ISA',
    placeholder: 'name',
    default: 'the best one',
    fallback: undefined,
    description: 'force the instruction set of the index: scalar, avx2, avx512, neon (read by the addon)',
    expected: 'one of scalar, avx2, avx512, neon',
    schema: z.enum(['scalar', 'avx2', 'avx512', 'neon']),
  },
];
