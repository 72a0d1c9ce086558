import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createModelSources } from '../../../src/adapters/model-sources/create-model-sources.js';
import { verifyModel } from '../../../src/models/installed-models.js';
import { type PullOptions, pullModel } from '../../../src/models/pull-model.js';
import { pinnedEmbedding, TINY_FILES, TINY_HUB_NAMES, tinyManifest } from '../../models/tiny-model.js';

const manifest = tinyManifest();
const WEIGHTS = TINY_FILES['onnx/model.onnx']!;
let work: string;
let server: Server | undefined;

beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'errata-resume-'));
});
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  await rm(work, { recursive: true, force: true });
});

async function onDisk(sizeBytes: number): Promise<void> {
  const partial = join(work, 'cache', '.partial');
  await expect
    .poll(async () => {
      const names = await readdir(partial);
      return Promise.all(names.map(async (name) => (await stat(join(partial, name))).size));
    })
    .toContain(sizeBytes);
}

/** A hub that cuts each answer for the weights after `cut` bytes; `ranges` collects what was asked for. */
async function hub(cut: (request: number) => number, options: { ranges?: boolean } = {}) {
  const ranges: (string | undefined)[] = [];
  const listener: RequestListener = (request, response) => {
    if (!request.url?.endsWith(TINY_HUB_NAMES['onnx/model.onnx'])) {
      response.end(TINY_FILES['tokenizer.json']);
      return;
    }
    ranges.push(request.headers.range);
    const wanted = options.ranges === false ? undefined : request.headers.range;
    const from = wanted === undefined ? 0 : Number(/bytes=(\d+)-/.exec(wanted)?.[1]);
    const rest = WEIGHTS.subarray(from);
    response.writeHead(wanted === undefined ? 200 : 206, { 'content-length': rest.length });
    const piece = rest.subarray(0, cut(ranges.length));
    if (piece.length === 0) response.flushHeaders();
    if (piece.length === rest.length) response.end(piece);
    // Cut only when the client has it all on disk, so that what it goes on from is known.
    else response.write(piece, () => void onDisk(from + piece.length).then(() => response.destroy()));
  };
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ranges };
}

function pull(baseUrl: string, more: Partial<PullOptions> = {}) {
  const cacheDir = join(work, 'cache');
  const sources = createModelSources({
    huggingFace: { baseUrl },
    maven: { command: 'errata-test-no-such-mvn' },
  });
  return pullModel('tiny', { cacheDir, manifest, sources, ...more });
}

describe('a broken download', () => {
  it('is gone on with in the same pull', async () => {
    const { baseUrl, ranges } = await hub(() => 90_000);
    const seen: number[] = [];
    const { directory } = await pull(baseUrl, {
      onProgress: ({ file, receivedBytes }) => file === 'onnx/model.onnx' && seen.push(receivedBytes),
    });
    await verifyModel(directory, pinnedEmbedding('tiny', manifest));
    expect(ranges).toEqual([undefined, 'bytes=90000-']);
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.at(-1)).toBe(WEIGHTS.length);
    expect(await readdir(join(work, 'cache', '.partial'))).toEqual([]);
  });

  it('is gone on with by a later pull, also after a stop by hand', async () => {
    const first = await hub(() => 50_000);
    const controller = new AbortController();
    await expect(
      pull(first.baseUrl, { signal: controller.signal, onProgress: () => controller.abort() }),
    ).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await readdir(join(work, 'cache', '.partial'))).toHaveLength(1);
    server?.closeAllConnections();
    server?.close();
    const second = await hub(() => WEIGHTS.length);
    // The address counts: another mirror may be another file.
    const { directory } = await pull(second.baseUrl);
    await verifyModel(directory, pinnedEmbedding('tiny', manifest));
    expect(second.ranges).toEqual([undefined]);
    server?.closeAllConnections();
  });

  it('starts again where the server gives no ranges', async () => {
    const { baseUrl } = await hub((request) => (request === 1 ? 70_000 : WEIGHTS.length), { ranges: false });
    const { directory } = await pull(baseUrl);
    await verifyModel(directory, pinnedEmbedding('tiny', manifest));
  });

  it('ends with an error where nothing comes any more, and keeps what came', async () => {
    const { baseUrl, ranges } = await hub((request) => (request === 1 ? 140_000 : 0));
    await expect(pull(baseUrl)).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', message: /to download/ });
    expect(ranges).toEqual([undefined, 'bytes=140000-']);
    expect(await readdir(join(work, 'cache', '.partial'))).toHaveLength(1);
    const again = await hub(() => WEIGHTS.length);
    await expect(pull(again.baseUrl)).resolves.toBeDefined();
  });
});
