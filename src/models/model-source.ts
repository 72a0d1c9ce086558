import type { KnownFile, KnownModel, SourceSpec } from './manifest-schema.js';

/** Bytes of one file of a running pull. `totalBytes` is what the manifest, or else the source, says. */
export interface PullProgress {
  /** Name for people: `huggingface Xenova/all-MiniLM-L6-v2`, `directory ./models`. */
  readonly source: string;
  readonly file: string;
  readonly receivedBytes: number;
  readonly totalBytes: number | undefined;
}

export interface FetchRequest<Spec> {
  readonly entry: KnownModel;
  /** Those of the entry's files that are wanted; the others are at hand. */
  readonly files: readonly KnownFile[];
  readonly spec: Spec;
  /** Directory of the pull's own: files go to `join(directory, file.path)`, parents made by the source. */
  readonly directory: string;
  /** Where a source may leave what a broken download has brought, to go on with it another time. */
  readonly partialDir: string;
  /** Use nothing that needs a network. */
  readonly offline: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

/** A directory or jar that the user names, with files under any of the names that the manifest knows. */
export interface DirectorySpec {
  readonly kind: 'directory';
  readonly path: string;
}

export type AnySourceSpec = SourceSpec | DirectorySpec;

/**
 * Where model files come from. A source only brings files; digests are checked by whoever asked.
 *
 * Errors: any; the message must say what was tried and what would help, without credentials. `ABORTED` ends the pull.
 */
export type ModelSource<Spec> = (request: FetchRequest<Spec>) => Promise<void>;

/** One source a kind. */
export type ModelSources = {
  readonly [Kind in AnySourceSpec['kind']]: ModelSource<Extract<AnySourceSpec, { kind: Kind }>>;
};

/** Name of a source for progress lines and errors. */
export function describeSource(spec: AnySourceSpec): string {
  switch (spec.kind) {
    case 'huggingface':
      return `huggingface ${spec.repo}@${spec.revision.slice(0, 12)}`;
    case 'maven':
      return `maven ${spec.artifact}`;
    case 'directory':
      return `directory ${spec.path}`;
  }
}
