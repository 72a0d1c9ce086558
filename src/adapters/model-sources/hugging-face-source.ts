import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { ErrataError } from '../../domain/errors.js';
import type { ModelFile, SourceSpec } from '../../models/manifest.js';
import { describeSource, type FetchRequest, type ModelSource } from '../../models/model-source.js';

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

/** Downloads each file of a pinned revision from the Hugging Face hub. */
export function createHuggingFaceSource(options: HuggingFaceOptions = {}): ModelSource<HuggingFaceSpec> {
  return async (request) => {
    if (request.offline)
      throw new ErrataError('MODEL_UNAVAILABLE', 'not tried, because only offline sources are allowed');
    for (const file of request.entry.files) await download(file, request, options);
  };
}

async function download(
  file: ModelFile,
  request: FetchRequest<HuggingFaceSpec>,
  options: HuggingFaceOptions,
): Promise<void> {
  const { spec, directory, signal } = request;
  const base = (options.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '');
  const url = `${base}/${spec.repo}/resolve/${spec.revision}/${spec.files[file.path]}`;
  const stall = new StallTimer(options.stallTimeoutMs ?? DEFAULT_STALL_TIMEOUT_MS);
  try {
    const signals = signal === undefined ? [stall.signal] : [signal, stall.signal];
    const response = await (options.fetch ?? fetch)(url, { signal: AbortSignal.any(signals) });
    if (!response.ok || response.body === null)
      throw new ErrataError('MODEL_UNAVAILABLE', `Expected HTTP 200 for ${url}, received ${response.status}`);
    const target = join(directory, file.path);
    await mkdir(dirname(target), { recursive: true });
    // The DOM's and Node's declarations of the same stream differ.
    const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
    await pipeline(body, (chunks) => watched(chunks, file, request, stall), createWriteStream(target));
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

/** Passes chunks on, restarts the stall timer, reports progress and refuses more than the manifest promises. */
async function* watched(
  chunks: AsyncIterable<Uint8Array>,
  file: ModelFile,
  request: FetchRequest<HuggingFaceSpec>,
  stall: StallTimer,
): AsyncGenerator<Uint8Array> {
  const source = describeSource(request.spec);
  let receivedBytes = 0;
  for await (const chunk of chunks) {
    stall.restart();
    receivedBytes += chunk.byteLength;
    if (receivedBytes > file.sizeBytes)
      throw new ErrataError(
        'DIGEST_MISMATCH',
        `Expected ${file.sizeBytes} bytes for ${file.path}, received more`,
      );
    request.onProgress?.({ source, file: file.path, receivedBytes, totalBytes: file.sizeBytes });
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
