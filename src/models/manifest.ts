import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ErrataError } from '../domain/errors.js';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Relative, forward slashes, no `..`: it is joined to a directory of ours. */
const filePath = z.string().regex(/^(?!.*(^|\/)\.{1,2}(\/|$))[\w.-]+(\/[\w.-]+)*$/);

const fileSchema = z.strictObject({
  path: filePath,
  role: z.enum(['weights', 'tokenizer']),
  sizeBytes: z.int().positive(),
  sha256,
});

/** `files` maps the path in the installed directory to the name that the source uses. */
const sourceFiles = z.record(filePath, z.string().min(1));
const sourceSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('huggingface'),
    repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
    /** A commit, never a branch: a branch moves. */
    revision: z.string().regex(/^[0-9a-f]{40}$/),
    files: sourceFiles,
  }),
  z.strictObject({
    kind: z.literal('maven'),
    /** `group:artifact:version`; the files are entries of its jar. */
    artifact: z.string().regex(/^[\w.-]+:[\w.-]+:[\w.-]+$/),
    files: sourceFiles,
  }),
]);

const canarySchema = z.strictObject({
  text: z.string().min(1),
  /** Base64 of the known vector, each number × 127 / max and rounded to int8; `[dimensions]`. */
  vectorInt8: z.base64(),
});

const entrySchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][\w.-]*$/),
  task: z.enum(['embedding']),
  licence: z.string().min(1),
  note: z.string().optional(),
  dimensions: z.int().positive(),
  pooling: z.enum(['mean', 'cls', 'last']),
  normalise: z.boolean(),
  prefixes: z.strictObject({ query: z.string(), passage: z.string() }),
  /** Tokens read, special tokens included. */
  maxTokens: z.int().min(8),
  /** Activations are scaled per run, so a vector depends on its batch mates: such a model runs one text at a time. */
  dynamicQuantisation: z.boolean(),
  files: z.array(fileSchema).min(2),
  sources: z.array(sourceSchema).min(1),
  canary: canarySchema.optional(),
});

const manifestSchema = z
  .strictObject({
    version: z.literal(1),
    defaultModel: z.string(),
    models: z.array(entrySchema).min(1),
  })
  .superRefine((manifest, context) => {
    const names = new Set(manifest.models.map((model) => model.name));
    if (names.size !== manifest.models.length || !names.has(manifest.defaultModel))
      context.addIssue({ code: 'custom', message: 'names must be unique and hold defaultModel' });
    for (const model of manifest.models)
      for (const message of faults(model)) {
        context.addIssue({ code: 'custom', message: `${model.name}: ${message}` });
      }
  });

export type ModelEntry = z.infer<typeof entrySchema>;
export type ModelFile = z.infer<typeof fileSchema>;
export type SourceSpec = z.infer<typeof sourceSchema>;
export type ModelManifest = z.infer<typeof manifestSchema>;

function faults(model: ModelEntry): string[] {
  const found: string[] = [];
  for (const role of ['weights', 'tokenizer'])
    if (model.files.filter((file) => file.role === role).length !== 1) found.push(`needs one ${role} file`);
  for (const source of model.sources)
    for (const file of model.files)
      if (source.files[file.path] === undefined) found.push(`${source.kind} does not name ${file.path}`);
  return found;
}

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

/** Errors: `UNKNOWN_MODEL` naming the known ones. */
export function modelEntry(name: string, manifest: ModelManifest = shippedManifest()): ModelEntry {
  const entry = manifest.models.find((model) => model.name === name);
  if (entry !== undefined) return entry;
  const known = manifest.models.map((model) => model.name).join(', ');
  throw new ErrataError(
    'UNKNOWN_MODEL',
    `Expected a model of ${known}, received ${JSON.stringify(name.slice(0, 80))}`,
  );
}

/** The file of a role; the schema guarantees exactly one. */
export function fileOfRole(entry: ModelEntry, role: ModelFile['role']): ModelFile {
  const file = entry.files.find((candidate) => candidate.role === role);
  if (file === undefined)
    throw new ErrataError('INVALID_CONFIG', `Expected a ${role} file for ${entry.name}, received none`);
  return file;
}
