import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { BATCH_WISHES, EXECUTION_PROVIDERS } from '../domain/inference.js';
import { type ConfigField, flagField, whole } from './config-field.js';

/** Inference scales with cores up to about 4 threads of one int8 model each; beyond that memory grows and speed does not. */
const defaultWorkers = Math.max(1, Math.min(4, availableParallelism() - 1));

/** How local models run. */
export const inferenceFields: readonly ConfigField[] = [
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
    key: 'executionProviders',
    env: 'ERRATA_EXECUTION_PROVIDERS',
    flag: 'execution-providers',
    placeholder: 'list',
    default: 'cpu',
    description: 'what runs local models, the first that can be had: such as cuda,cpu; see docs/gpu.md',
    expected: `some of ${EXECUTION_PROVIDERS.join(', ')}, each once, with commas between`,
    schema: z
      .string()
      .toLowerCase()
      .transform((value) => value.split(',').map((name) => name.trim()))
      .pipe(z.array(z.enum(EXECUTION_PROVIDERS)).min(1))
      .refine((names) => new Set(names).size === names.length),
  }),
  flagField({
    key: 'batches',
    env: 'ERRATA_BATCHES',
    flag: 'batches',
    placeholder: 'wish',
    default: 'exact',
    description:
      'texts that share a run of the embedding model: exact (only where each gets the bits it has alone), close (rounding may differ: for GPUs), off',
    expected: BATCH_WISHES.join(', '),
    schema: z.string().toLowerCase().pipe(z.enum(BATCH_WISHES)),
  }),
];
