import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createModelSources,
  type ModelSourceOptions,
} from '../../../src/adapters/model-sources/create-model-sources.js';
import { verifyModel } from '../../../src/models/installed-models.js';
import { type PullOptions, pullModel } from '../../../src/models/pull-model.js';
import {
  pinnedEmbedding,
  TINY_FILES,
  TINY_HUB_NAMES,
  TINY_JAR_NAMES,
  TINY_REVISION,
  tinyManifest,
} from '../../models/tiny-model.js';
import { storedZip } from './stored-zip.js';

const manifest = tinyManifest();
const NO_MAVEN = { command: 'errata-test-no-such-mvn' };
let work: string;
let servers: Server[];

beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'errata-sources-'));
  servers = [];
});

afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await rm(work, { recursive: true, force: true });
});

async function hub(listener: RequestListener): Promise<{ baseUrl: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Serves the files as the hub does, but redirects first, as the hub does for large files. */
const serveFiles: RequestListener = (request, response) => {
  const found = Object.entries(TINY_HUB_NAMES).find(
    ([, name]) => request.url === `/someone/tiny/resolve/${TINY_REVISION}/${name}`,
  );
  if (found !== undefined)
    response.writeHead(302, { location: `/cdn/${encodeURIComponent(found[0])}` }).end();
  else if (request.url?.startsWith('/cdn/'))
    response.end(TINY_FILES[decodeURIComponent(request.url.slice(5))]);
  else response.writeHead(404).end();
};

function pull(options: ModelSourceOptions, more: Partial<PullOptions> = {}) {
  return pullModel('tiny', {
    cacheDir: join(work, 'cache'),
    manifest,
    sources: createModelSources(options),
    ...more,
  });
}

async function fakeMaven(body: string): Promise<{ command: string }> {
  const command = join(work, 'mvn');
  await writeFile(command, `#!/bin/sh\n${body}\n`);
  await chmod(command, 0o755);
  return { command };
}

const jar = (names: Record<string, string> = TINY_JAR_NAMES) =>
  storedZip(
    Object.entries(names).map(([path, name]) => ({ name, bytes: TINY_FILES[path] ?? Buffer.alloc(0) })),
  );

describe('Hugging Face source', () => {
  it('downloads the pinned revision with progress', async () => {
    const seen = new Map<string, number>();
    const model = await pull(
      { huggingFace: await hub(serveFiles), maven: NO_MAVEN },
      { onProgress: ({ file, receivedBytes }) => seen.set(file, receivedBytes) },
    );
    await verifyModel(model.directory, pinnedEmbedding('tiny', manifest));
    const sizes = Object.entries(TINY_FILES).map(([path, bytes]) => [path, bytes.length]);
    expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(sizes));
  });

  it.each<[string, RequestListener, RegExp]>([
    [
      '404',
      (_, response) => response.writeHead(404).end(),
      /Expected HTTP 200 for http.*model_quantized\.onnx, received 404/,
    ],
    [
      'a body that is too long',
      (_, response) => response.end(Buffer.alloc(400_000)),
      /Expected 160000 bytes for onnx\/model\.onnx, received more/,
    ],
    [
      'a connection that breaks',
      (_, response) =>
        response.writeHead(200, { 'content-length': '160000' }).write('x', () => response.destroy()),
      /Expected to download/,
    ],
    ['silence', () => {}, /Expected bytes of http.* within 200 ms, received none/],
    [
      'a body that stalls',
      (_, response) => response.writeHead(200).write('x'),
      /within 200 ms, received none/,
    ],
  ])('reports %s', async (_, listener, message) => {
    const huggingFace = { ...(await hub(listener)), stallTimeoutMs: 200 };
    await expect(pull({ huggingFace, maven: NO_MAVEN })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message,
    });
  });

  it('is not asked when offline', async () => {
    let asked = 0;
    const huggingFace = await hub((_, response) => {
      asked += 1;
      response.end();
    });
    await expect(pull({ huggingFace, maven: NO_MAVEN }, { offline: true })).rejects.toMatchObject({
      message: /1\. huggingface .*: not tried.*\n.*2\. maven .*: Expected the Maven client/,
    });
    expect(asked).toBe(0);
  });

  it('stops at an abort signal', async () => {
    const controller = new AbortController();
    const huggingFace = await hub(() => controller.abort());
    await expect(pull({ huggingFace, maven: NO_MAVEN }, { signal: controller.signal })).rejects.toMatchObject(
      {
        code: 'ABORTED',
      },
    );
  });
});

describe('Maven source', () => {
  const huggingFace = { baseUrl: 'http://127.0.0.1:9' };

  it('lets the client copy the jar and unpacks the model', async () => {
    await writeFile(join(work, 'tiny.jar'), jar());
    const maven = await fakeMaven(`
for argument; do case $argument in -DoutputDirectory=*) to=\${argument#*=};; -Dartifact=*) echo "$argument" > ${work}/artifact;; esac; done
cp ${work}/tiny.jar "$to/tiny-1.0.jar"`);
    const model = await pull({ huggingFace, maven });
    await verifyModel(model.directory, pinnedEmbedding('tiny', manifest));
  });

  it.each([
    ['a missing client', NO_MAVEN, /Expected the Maven client errata-test-no-such-mvn on the PATH/],
    [
      'what Maven says',
      "echo '[ERROR] Could not find artifact org.example:tiny'; exit 1",
      /received: Could not find artifact org\.example:tiny/,
    ],
    [
      'a client that brings nothing',
      'exit 0',
      /Expected a jar for org\.example:tiny:1\.0 from mvn, received none/,
    ],
    [
      'a jar that is none',
      'for a; do case $a in -DoutputDirectory=*) cd `echo $a | cut -d= -f2`; echo x > x.jar;; esac; done',
      /Expected a readable jar/,
    ],
  ])('reports %s', async (_, given, message) => {
    const maven = typeof given === 'string' ? await fakeMaven(given) : given;
    await expect(pull({ huggingFace, maven })).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', message });
  });
});

describe('directory source', () => {
  async function lay(files: Record<string, Buffer>): Promise<string> {
    for (const [path, bytes] of Object.entries(files)) {
      await mkdir(dirname(join(work, 'given', path)), { recursive: true });
      await writeFile(join(work, 'given', path), bytes);
    }
    return join(work, 'given');
  }
  const weights = TINY_FILES['onnx/model.onnx'] ?? Buffer.alloc(0);
  const tokenizer = TINY_FILES['tokenizer.json'] ?? Buffer.alloc(0);

  it.each([
    ['the installed layout', { 'onnx/model.onnx': weights, 'tokenizer.json': tokenizer }],
    [
      'a hub checkout with other weights',
      {
        'onnx/model.onnx': Buffer.from('fp32'),
        'onnx/model_quantized.onnx': weights,
        'tokenizer.json': tokenizer,
      },
    ],
    ['loose files of the jar', { 'tiny.onnx': weights, 'tiny-tokenizer.json': tokenizer }],
  ])('takes %s', async (_, files) => {
    const model = await pull({}, { from: await lay(files) });
    await verifyModel(model.directory, pinnedEmbedding('tiny', manifest));
  });

  it('takes the jar itself', async () => {
    await writeFile(join(work, 'tiny.jar'), jar());
    const model = await pull({}, { from: join(work, 'tiny.jar') });
    await verifyModel(model.directory, pinnedEmbedding('tiny', manifest));
  });

  it('says what is missing', async () => {
    await expect(pull({}, { from: join(work, 'nowhere') })).rejects.toMatchObject({
      message: /received no such path/,
    });
    await expect(pull({}, { from: await lay({ 'tiny.onnx': weights }) })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: /Expected a file of 13 bytes at tokenizer\.json or tiny-tokenizer\.json in/,
    });
    await writeFile(join(work, 'half.jar'), jar({ 'onnx/model.onnx': 'tiny.onnx' }));
    await expect(pull({}, { from: join(work, 'half.jar') })).rejects.toMatchObject({
      message: /Expected tiny-tokenizer\.json in .*half\.jar, received no such entry/,
    });
  });
});
