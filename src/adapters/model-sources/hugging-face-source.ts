import { createWriteStream } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { ErrataError, isErrataError } from '../../domain/errors.js';
import type { KnownFile, SourceSpec } from '../../models/manifest-schema.js';
import { describeSource, type FetchRequest, type ModelSource } from '../../models/model-source.js';
import { PartialFile } from './partial-file.js';

export interface HuggingFaceOptions {
  /** A mirror of the hub. Default `https://huggingface.co`. */
  readonly baseUrl?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Longest wait for the response, and for each further piece of it. Default 30 s. */
  readonly stallTimeoutMs?: number | undefined;
}

type HuggingFaceSpec = Extract<SourceSpec, { kind: 'huggingface' }>;

const DEFAULT_BASE_URL = 'https://huggingface.co';
const DEFAULT_STALL_TIMEOUT_MS = 30_000;
/** A connection that breaks is opened again, as long as each one brought something. */
const MAX_ATTEMPTS = 5;

/** Downloads each file of a pinned revision from the Hugging Face hub; a broken download is gone on with. */
export function createHuggingFaceSource(options: HuggingFaceOptions = {}): ModelSource<HuggingFaceSpec> {
  return async (request) => {
    if (request.offline)
      throw new ErrataError('MODEL_UNAVAILABLE', 'not tried, because only offline sources are allowed');
    for (const file of request.files) await download(file, request, options);
  };
}

async function download(
  file: KnownFile,
  request: FetchRequest<HuggingFaceSpec>,
  options: HuggingFaceOptions,
): Promise<void> {
  const { spec, directory, partialDir, signal } = request;
  const base = (options.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '');
  const url = `${base}/${spec.repo}/resolve/${spec.revision}/${spec.files[file.path]}`;
  for (let attempt = 1; ; attempt += 1) {
    const partial = await PartialFile.claim(partialDir, url);
    const progress = { receivedBytes: 0 };
    try {
      await receive(url, partial, { file, request, options, progress });
      const target = join(directory, file.path);
      await mkdir(dirname(target), { recursive: true });
      await rename(partial.path, target);
      return;
    } catch (error) {
      // More than there can be is no beginning of the file.
      await (isErrataError(error, 'DIGEST_MISMATCH') ? partial.discard() : partial.release());
      const broken = isErrataError(error, 'MODEL_UNAVAILABLE');
      const goOn = broken && progress.receivedBytes > 0 && attempt < MAX_ATTEMPTS && !signal?.aborted;
      if (!goOn) throw error;
    }
  }
}

interface Reception {
  readonly file: KnownFile;
  readonly request: FetchRequest<HuggingFaceSpec>;
  readonly options: HuggingFaceOptions;
  /** New bytes of this attempt. */
  readonly progress: { receivedBytes: number };
}

async function receive(url: string, partial: PartialFile, reception: Reception): Promise<void> {
  const { file, options, request } = reception;
  const stall = new StallTimer(options.stallTimeoutMs ?? DEFAULT_STALL_TIMEOUT_MS);
  try {
    const signals = request.signal === undefined ? [stall.signal] : [request.signal, stall.signal];
    const signal = AbortSignal.any(signals);
    // What is there already may be all there is, or more: then the server cannot serve the range.
    const wanted = partial.sizeBytes > 0 && partial.sizeBytes !== file.sizeBytes ? partial.sizeBytes : 0;
    if (wanted === 0 && partial.sizeBytes > 0) return;
    let response = await (options.fetch ?? fetch)(url, { signal, ...range(wanted) });
    if (response.status === 416) {
      await response.body?.cancel();
      response = await (options.fetch ?? fetch)(url, { signal });
    }
    const from = response.status === 206 ? wanted : 0;
    if (!response.ok || response.body === null)
      throw new ErrataError('MODEL_UNAVAILABLE', `Expected HTTP 200 for ${url}, received ${response.status}`);
    const length = Number(response.headers.get('content-length') ?? Number.NaN);
    const totalBytes = file.sizeBytes ?? (Number.isNaN(length) ? undefined : from + length);
    // The DOM's and Node's declarations of the same stream differ.
    const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
    const target = createWriteStream(partial.path, { flags: from > 0 ? 'a' : 'w' });
    await pipeline(body, (chunks) => watched(chunks, reception, { from, totalBytes, stall }), target);
    const receivedBytes = from + reception.progress.receivedBytes;
    if (file.sizeBytes !== undefined && receivedBytes < file.sizeBytes)
      throw new ErrataError(
        'MODEL_UNAVAILABLE',
        `Expected ${file.sizeBytes} bytes for ${file.path}, received ${receivedBytes}`,
      );
  } catch (cause) {
    if (stall.fired)
      throw new ErrataError(
        'TIMED_OUT',
        `Expected bytes of ${url} within ${stall.timeoutMs} ms, received none`,
        { cause },
      );
    if (cause instanceof ErrataError) throw cause;
    throw new ErrataError('MODEL_UNAVAILABLE', `Expected to download ${url}, received an error`, { cause });
  } finally {
    stall.stop();
  }
}

const range = (from: number) => (from > 0 ? { headers: { range: `bytes=${from}-` } } : {});

/** Passes chunks on, restarts the stall timer, reports progress and refuses more than was promised. */
async function* watched(
  chunks: AsyncIterable<Uint8Array>,
  { file, request, progress }: Reception,
  { from, totalBytes, stall }: { from: number; totalBytes: number | undefined; stall: StallTimer },
): AsyncGenerator<Uint8Array> {
  const source = describeSource(request.spec);
  for await (const chunk of chunks) {
    stall.restart();
    progress.receivedBytes += chunk.byteLength;
    const receivedBytes = from + progress.receivedBytes;
    if (file.sizeBytes !== undefined && receivedBytes > file.sizeBytes)
      throw new ErrataError(
        'DIGEST_MISMATCH',
        `Expected ${file.sizeBytes} bytes for ${file.path}, received more`,
      );
    request.onProgress?.({ source, file: file.path, receivedBytes, totalBytes });
    yield chunk;
  }
}

/** Aborts when nothing has happened for the timeout. */
class StallTimer {
  readonly timeoutMs: number;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
    this.#timer = setTimeout(() => this.#controller.abort(), timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get fired(): boolean {
    return this.#controller.signal.aborted;
  }

  restart(): void {
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
