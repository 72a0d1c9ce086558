import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ErrataError } from '../../domain/errors.js';
import { runtimeFilesOf } from '../../models/installed-models.js';
import type { EmbeddingEntry, ModelEntry, RerankingEntry } from '../../models/manifest-schema.js';
import { embeddingModelId, rerankingModelId } from '../../models/model-id.js';
import { packCanary } from '../../models/vector-checks.js';
import type { OnnxOptions } from './open-pool.js';

const embeddingCanary = z.strictObject({ text: z.string().min(1), vectorInt8: z.base64() });
const rerankingCanary = z.strictObject({ logits: z.array(z.number()).min(1) });

/**
 * What a model without a canary in the manifest gave at its first start: known answers for every later one, on whatever runtime or
 * processor, until the model is removed. The file is named after the weights (removal finds it by them) and the model id, so that other
 * weights, and the same ones with other pooling, have their own.
 */
function fileOf(folder: string, entry: ModelEntry, use = ''): string {
  const id = entry.task === 'embedding' ? embeddingModelId(entry) : rerankingModelId(entry);
  return join(folder, `${runtimeFilesOf(entry)}-${id.slice(id.lastIndexOf('@') + 1)}${use}.canary.json`);
}

/** Errors: `INVALID_FILE` where it is damaged: what would be trusted anew then is just what may be broken. */
async function read<T>(file: string, name: string, schema: z.ZodType<T>): Promise<T | undefined> {
  let json: string;
  try {
    json = await readFile(file, 'utf8');
  } catch (error) {
    // ENOTDIR: where no folder can be made nothing is kept, which the keeping says.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
  try {
    return schema.parse(JSON.parse(json));
  } catch (cause) {
    const what = `Expected the canary of ${name} in ${file}, received another file; delete it to trust the model as it answers now`;
    throw new ErrataError('INVALID_FILE', what, { cause });
  }
}

/** Where the runtime's files are kept, and who hears that it cannot be written to: then the model serves, and nothing is held against it later. */
type Place = Pick<OnnxOptions<ModelEntry>, 'runtimeDir' | 'onWarning'>;

async function keep(file: string, canary: object, onWarning: Place['onWarning']): Promise<void> {
  const beside = `${file}.${randomUUID()}.part`;
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(beside, JSON.stringify(canary));
    await rename(beside, file);
  } catch (cause) {
    onWarning?.(
      new ErrataError('MODEL_UNAVAILABLE', 'Expected to keep the canary, received an error', { cause }),
    );
  }
}

/** The manifest's canary, else the kept one. Errors: `INVALID_FILE`. */
export async function knownCanary(
  folder: string | undefined,
  entry: EmbeddingEntry,
): Promise<EmbeddingEntry['canary']> {
  if (entry.canary !== undefined || folder === undefined) return entry.canary;
  return read(fileOf(folder, entry), entry.name, embeddingCanary);
}

/** For the starts to come; nothing without a folder. */
export async function keepCanary(
  { runtimeDir, onWarning }: Place,
  entry: EmbeddingEntry,
  { text, vector }: { readonly text: string; readonly vector: Float32Array },
): Promise<void> {
  if (runtimeDir !== undefined)
    await keep(fileOf(runtimeDir, entry), { text, vectorInt8: packCanary(vector) }, onWarning);
}

/**
 * Distance of a logit from the known one. int8 kernels differ between instruction sets; a broken runtime or a head of other
 * weights gives logits that lie anywhere between −11 and 11.
 */
const LOGIT_TOLERANCE = { int8: 1, fp16: 0.1, fp32: 0.05 } as const;

/**
 * Compares a reranker's logits for fixed pairs, or a classifier's for the passages `alone`, with those of its first start, or keeps them.
 *
 * Errors: `MODEL_UNAVAILABLE` naming the difference; `INVALID_FILE`.
 */
export async function holdLogits(
  { runtimeDir, onWarning }: Place,
  entry: RerankingEntry,
  { logits, alone }: { readonly logits: readonly number[]; readonly alone: boolean },
): Promise<void> {
  if (runtimeDir === undefined) return;
  const file = fileOf(runtimeDir, entry, alone ? '-alone' : '');
  const known = await read(file, entry.name, rerankingCanary);
  if (known === undefined) return keep(file, { logits }, onWarning);
  const farthest = Math.max(
    ...logits.map((logit, at) => Math.abs(logit - (known.logits[at] ?? Number.POSITIVE_INFINITY))),
  );
  const most = LOGIT_TOLERANCE[entry.precision];
  if (farthest <= most) return;
  throw new ErrataError(
    'MODEL_UNAVAILABLE',
    `Expected logits within ${most} of those of its first start for the canary pairs of ${entry.name}, received ${farthest}`,
  );
}
