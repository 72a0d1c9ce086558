import { z } from 'zod';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Relative, forward slashes, no `..`: it is joined to a directory of ours. */
const filePath = z.string().regex(/^(?!.*(^|\/)\.{1,2}(\/|$))[\w.-]+(\/[\w.-]+)*$/);

/** What a file is for. `weights-data` lies beside the weights under the name that these expect. */
const role = z.enum(['weights', 'weights-data', 'tokenizer', 'config']);

/** Numbers that are not known here are recorded at the first pull and held from then on (`pins.ts`). */
const fileSchema = z.strictObject({
  path: filePath,
  role,
  sizeBytes: z.int().positive().optional(),
  sha256: sha256.optional(),
});

/** A branch moves, a commit does not. */
const revision = z.string().regex(/^[0-9a-f]{40}$/);
/** `files` maps the path in the installed directory to the name that the source uses. */
const sourceFiles = z.record(filePath, z.string().min(1));
const sourceSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('huggingface'),
    repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
    revision,
    files: sourceFiles,
  }),
  z.strictObject({
    kind: z.literal('maven'),
    /** `group:artifact:version`; the files are entries of its jar. */
    artifact: z.string().regex(/^[\w.-]+:[\w.-]+:[\w.-]+$/),
    files: sourceFiles,
  }),
]);

export const PRECISIONS = ['int8', 'fp16', 'fp32'] as const;
const precision = z.enum(PRECISIONS);

/** Other weights of the same model in the same hub repository; chosen as `name:precision`. */
const variantSchema = z.strictObject({
  hubFile: z.string().min(1),
  /** External data of these weights, by installed path. */
  data: sourceFiles.optional(),
  sizeBytes: z.int().positive().optional(),
  sha256: sha256.optional(),
});

const canarySchema = z.strictObject({
  text: z.string().min(1),
  /** Base64 of the known vector, each number × 127 / max and rounded to int8; `[dimensions]`. */
  vectorInt8: z.base64(),
});

const modelName = z.string().regex(/^[A-Za-z0-9][\w.-]*$/);
const shared = {
  name: modelName,
  /** Other names by which it is known. */
  aliases: z.array(modelName).optional(),
  licence: z.string().min(1),
  note: z.string().optional(),
  /** Tokens read, special tokens included. */
  maxTokens: z.int().min(8),
  /** Of the weights that the plain name means. */
  precision,
  /** Activations are scaled per run, so a result depends on its batch mates: such a model runs one text at a time. */
  dynamicQuantisation: z.boolean(),
  files: z.array(fileSchema).min(2),
  sources: z.array(sourceSchema),
  /** Folder of this package that holds the files: such a model is always there and has no sources. */
  shipped: filePath.optional(),
  variants: z.partialRecord(precision, variantSchema).optional(),
};

const embeddingSchema = z.strictObject({
  task: z.literal('embedding'),
  ...shared,
  /** `static`: one vector a token, read by `adapters/static`. Default: ONNX. */
  format: z.enum(['onnx', 'static']).optional(),
  dimensions: z.int().positive(),
  pooling: z.enum(['mean', 'cls', 'last']),
  normalise: z.boolean(),
  prefixes: z.strictObject({ query: z.string(), passage: z.string() }),
  canary: canarySchema.optional(),
});

const rerankingSchema = z.strictObject({
  task: z.literal('reranking'),
  ...shared,
  /** Outputs of the classifier: one score, or not relevant against relevant. */
  logits: z.union([z.literal(1), z.literal(2)]),
});

export const entrySchema = z.discriminatedUnion('task', [embeddingSchema, rerankingSchema]);

export const manifestSchema = z
  .strictObject({
    version: z.literal(1),
    defaultModel: z.string(),
    models: z.array(entrySchema).min(1),
  })
  .superRefine((manifest, context) => {
    const names = new Set(manifest.models.map((model) => model.name));
    const fallback = manifest.models.find((model) => model.name === manifest.defaultModel);
    if (names.size !== manifest.models.length || fallback?.task !== 'embedding')
      context.addIssue({
        code: 'custom',
        message: 'names must be unique and hold defaultModel, an embedding model',
      });
    for (const model of manifest.models)
      for (const message of faults(model)) {
        context.addIssue({ code: 'custom', message: `${model.name}: ${message}` });
      }
  });

export type ModelManifest = z.infer<typeof manifestSchema>;
export type SourceSpec = z.infer<typeof sourceSchema>;
export type Precision = z.infer<typeof precision>;
export type KnownFile = z.infer<typeof fileSchema>;
/** As the manifest has it: some sizes and digests may be open. */
export type KnownModel = z.infer<typeof entrySchema>;

/** A file whose bytes are fixed. */
export interface ModelFile {
  readonly path: string;
  readonly role: KnownFile['role'];
  readonly sizeBytes: number;
  readonly sha256: string;
}

type Pinned<Known> = Omit<Known, 'files'> & { readonly files: readonly ModelFile[] };
export type EmbeddingEntry = Pinned<z.infer<typeof embeddingSchema>>;
export type RerankingEntry = Pinned<z.infer<typeof rerankingSchema>>;
/** A model every byte of which is fixed: only such a one is loaded. */
export type ModelEntry = EmbeddingEntry | RerankingEntry;

function faults(model: KnownModel): string[] {
  const found: string[] = [];
  for (const wanted of ['weights', 'tokenizer'])
    if (model.files.filter((file) => file.role === wanted).length !== 1)
      found.push(`needs one ${wanted} file`);
  if ((model.sources.length === 0) !== (model.shipped !== undefined))
    found.push('needs sources, or a folder that ships, not both');
  for (const source of model.sources)
    for (const file of model.files)
      if (source.files[file.path] === undefined) found.push(`${source.kind} does not name ${file.path}`);
  if (model.variants?.[model.precision] !== undefined)
    found.push(`${model.precision} is what the plain name means, it needs no variant`);
  if (model.variants !== undefined && !model.sources.some(({ kind }) => kind === 'huggingface'))
    found.push('variants come from a hub repository, and there is none');
  return found;
}
