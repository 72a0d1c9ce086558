import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ErrataError } from '../domain/errors.js';
import {
  type KnownFile,
  type KnownModel,
  type ModelEntry,
  type ModelFile,
  type ModelManifest,
  manifestSchema,
  PRECISIONS,
  type Precision,
} from './manifest-schema.js';

/** `models.json` beside package.json; the same place from `src/models` and from `dist/models`. */
const MANIFEST_PATH = fileURLToPath(new URL('../../models.json', import.meta.url));

/** Parses a manifest. Errors: `INVALID_CONFIG` with what is wrong. */
export function parseManifest(json: string): ModelManifest {
  try {
    return manifestSchema.parse(JSON.parse(json));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new ErrataError('INVALID_CONFIG', `Expected a model manifest, received one with: ${why}`, {
      cause,
    });
  }
}

let shipped: ModelManifest | undefined;

/** The manifest that ships with Errata. Errors: `INVALID_CONFIG` where the file is missing or damaged. */
export function shippedManifest(): ModelManifest {
  if (shipped === undefined) {
    let json: string;
    try {
      json = readFileSync(MANIFEST_PATH, 'utf8');
    } catch (cause) {
      throw new ErrataError('INVALID_CONFIG', 'Expected models.json beside package.json, received none', {
        cause,
      });
    }
    shipped = parseManifest(json);
  }
  return shipped;
}

/**
 * The model of `name`, or of `name:precision` with other weights of it.
 *
 * Errors: `UNKNOWN_MODEL` naming the known ones.
 */
export function knownModel(name: string, manifest: ModelManifest = shippedManifest()): KnownModel {
  const at = name.lastIndexOf(':');
  const plain = at === -1 ? name : name.slice(0, at);
  const known = manifest.models.find((model) => model.name === plain || model.aliases?.includes(plain));
  const wanted = at === -1 ? known?.precision : PRECISIONS.find((one) => one === name.slice(at + 1));
  if (known !== undefined && wanted === known.precision) return known;
  if (known !== undefined && wanted !== undefined && known.variants?.[wanted] !== undefined)
    return variantOf(known, wanted);
  const names = manifest.models.flatMap(namesOf).join(', ');
  throw new ErrataError(
    'UNKNOWN_MODEL',
    `Expected a model of ${names}, received ${JSON.stringify(name.slice(0, 80))}`,
  );
}

/** `name`, and `name:precision` for every other precision; aliases are understood, not offered. */
export function namesOf(known: KnownModel): readonly string[] {
  return [known.name, ...Object.keys(known.variants ?? {}).map((precision) => `${known.name}:${precision}`)];
}

function variantOf(known: KnownModel, precision: Precision): KnownModel {
  const variant = known.variants?.[precision];
  if (variant === undefined) return known;
  const weights = known.files.find(({ role }) => role === 'weights');
  const weightsPath = weights?.path ?? '';
  const data = variant.data ?? {};
  const files: KnownFile[] = [
    { path: weightsPath, role: 'weights', sizeBytes: variant.sizeBytes, sha256: variant.sha256 },
    ...Object.keys(data).map((path): KnownFile => ({ path, role: 'weights-data' })),
    ...known.files.filter(({ role }) => role !== 'weights' && role !== 'weights-data'),
  ];
  const sources = known.sources
    .filter(({ kind }) => kind === 'huggingface')
    .map((source) => ({ ...source, files: { ...source.files, [weightsPath]: variant.hubFile, ...data } }));
  const { variants, ...rest } = known;
  const name = `${known.name}:${precision}`;
  const changed = { name, precision, files, sources, dynamicQuantisation: precision === 'int8' };
  // The canary was embedded with the other weights.
  if (rest.task === 'embedding') return { ...rest, ...changed, canary: undefined };
  return { ...rest, ...changed };
}

/** The file of a role; the schema guarantees exactly one for weights and tokenizer. */
export function fileOfRole(entry: Pick<ModelEntry, 'name' | 'files'>, role: ModelFile['role']): ModelFile {
  const file = entry.files.find((candidate) => candidate.role === role);
  if (file === undefined)
    throw new ErrataError('INVALID_CONFIG', `Expected a ${role} file for ${entry.name}, received none`);
  return file;
}
