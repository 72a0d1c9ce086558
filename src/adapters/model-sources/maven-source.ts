import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ErrataError } from '../../domain/errors.js';
import type { SourceSpec } from '../../models/manifest-schema.js';
import { describeSource, type ModelSource } from '../../models/model-source.js';
import { extractJarEntries } from './jar-entries.js';

export interface MavenOptions {
  /** The client. Default `mvn` on the PATH; its own settings name repositories, mirrors and proxies. */
  readonly command?: string | undefined;
  /** Default 10 minutes: the jar has 16 MB, and a first run of Maven fetches its plugins. */
  readonly timeoutMs?: number | undefined;
}

type MavenSpec = Extract<SourceSpec, { kind: 'maven' }>;

const DEFAULT_TIMEOUT_MS = 600_000;
/** Bound for entries whose size nobody knows yet. */
const UNKNOWN_SIZE_LIMIT = 8e9;
/** Lines of Maven's output kept in an error: the first ones name the cause, the rest is advice about `-e` and `-X`. */
const OUTPUT_LINES = 3;

/** Lets the Maven client fetch an artifact (or find it in its local repository) and unpacks the model from its jar. */
export function createMavenSource(options: MavenOptions = {}): ModelSource<MavenSpec> {
  return async ({ files, spec, directory, offline, signal, onProgress }) => {
    const jars = join(directory, '.jar');
    await mkdir(jars);
    await runMaven(spec.artifact, jars, offline, options, signal);
    const [jar] = (await readdir(jars)).filter((name) => name.endsWith('.jar'));
    if (jar === undefined)
      throw new ErrataError(
        'MODEL_UNAVAILABLE',
        `Expected a jar for ${spec.artifact} from mvn, received none`,
      );
    const wanted = files.map((file) => ({
      entryName: spec.files[file.path] ?? file.path,
      target: join(directory, file.path),
      maxSizeBytes: file.sizeBytes ?? UNKNOWN_SIZE_LIMIT,
    }));
    await extractJarEntries(join(jars, jar), wanted);
    await rm(jars, { recursive: true });
    const source = describeSource(spec);
    for (const { path } of files) {
      const { size } = await stat(join(directory, path));
      onProgress?.({ source, file: path, receivedBytes: size, totalBytes: size });
    }
  };
}

function runMaven(
  artifact: string,
  target: string,
  offline: boolean,
  options: MavenOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const command = options.command ?? 'mvn';
  const args = ['--batch-mode', '--quiet', ...(offline ? ['--offline'] : []), 'dependency:copy'];
  args.push(`-Dartifact=${artifact}`, `-DoutputDirectory=${target}`);
  const timeout = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  // Run in the target directory, so that no pom.xml of the caller's directory is read.
  const settings = { cwd: target, timeout, windowsHide: true, ...(signal === undefined ? {} : { signal }) };
  return new Promise((resolve, reject) => {
    execFile(command, args, settings, (cause, stdout, stderr) => {
      if (cause === null) resolve();
      else if (cause.code === 'ENOENT')
        reject(
          new ErrataError(
            'TOOL_MISSING',
            `Expected the Maven client ${command} on the PATH, received none (install Apache Maven and a JDK)`,
          ),
        );
      else
        reject(
          new ErrataError(
            'MODEL_UNAVAILABLE',
            `Expected ${command} to fetch ${artifact}, received: ${firstErrors(`${stdout}\n${stderr}`, cause.message)}`,
          ),
        );
    });
  });
}

function firstErrors(output: string, fallback: string): string {
  const lines = output.split('\n').filter((line) => line.startsWith('[ERROR]') && line.length > 8);
  const text = lines
    .slice(0, OUTPUT_LINES)
    .map((line) => line.slice(8).trim().slice(0, 300))
    .join(' ');
  return text === '' ? (fallback.split('\n')[0] ?? fallback) : text;
}
