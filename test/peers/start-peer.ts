import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { peerFolder, whyUnavailable } from './build-peers.mjs';

export type PeerName = 'mongo-java-server' | 'ferretdb';

export interface Peer {
  readonly uri: string;
  /** `host:port` */
  readonly address: string;
  /** Stops this server alone, by its handle, and removes its files. Harmless to repeat. */
  stop(): Promise<void>;
}

/** The reason why a peer cannot be started here; undefined where it can. */
export function peerAvailable(name: PeerName): Promise<string | undefined> {
  return whyUnavailable(name);
}

const READY_TIMEOUT_MS = 30_000;
/** SCRAM user of the FerretDB peer: made at its start, gone with its folder. */
const USER = { name: 'errata', password: 'p@ss/word:1' };

/** In memory, or with `file` on the H2 backend, whose file another start finds again. */
export async function startMongoJavaServer(file?: string): Promise<Peer> {
  const folder = peerFolder('mongo-java-server');
  const classPath = [path.join(folder, 'classes'), path.join(folder, 'lib', '*')].join(path.delimiter);
  const args = ['-Xmx1g', '-cp', classPath, 'PeerServer', '0', ...(file === undefined ? [] : [file])];
  const child = spawn('java', args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ready = await waitFor(child, child.stdout, /^listening on (\d+)$/);
  const address = `127.0.0.1:${ready[1]}`;
  return {
    address,
    uri: `mongodb://${address}`,
    stop: async () => {
      // The end of its input is its order to close the files.
      child.stdin.end();
      await ended(child);
    },
  };
}

/** SQLite backend, SCRAM on. */
export async function startFerretDb(): Promise<Peer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'errata-ferretdb-'));
  const address = `127.0.0.1:${await freePort()}`;
  const args = [
    '--handler=sqlite',
    `--sqlite-url=file:${folder}/`,
    `--state-dir=${folder}`,
    '--telemetry=disable',
    `--listen-addr=${address}`,
    '--debug-addr=-',
    '--test-enable-new-auth',
    '--setup-database=admin',
    `--setup-username=${USER.name}`,
    `--setup-password=${USER.password}`,
  ];
  const child = spawn(path.join(peerFolder('ferretdb'), 'ferretdb'), args, {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await waitFor(child, child.stderr, /Listening on TCP/i);
  return {
    address,
    uri: `mongodb://${USER.name}:${encodeURIComponent(USER.password)}@${address}/?authMechanism=SCRAM-SHA-256`,
    stop: async () => {
      child.kill('SIGTERM');
      await ended(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Reads a child's lines until one says that it is ready, and goes on reading so that its pipe never fills. */
function waitFor(
  child: ChildProcess,
  output: NodeJS.ReadableStream | null,
  ready: RegExp,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const fail = (reason: string): void => {
      child.kill();
      reject(new Error(`Expected a peer that starts, received ${reason}\n${said.slice(-20).join('\n')}`));
    };
    const timer = setTimeout(() => fail(`no ready line in ${READY_TIMEOUT_MS} ms`), READY_TIMEOUT_MS);
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        if (said.length < 200) said.push(line);
        const match = stream === output ? ready.exec(line) : null;
        if (match === null) return;
        clearTimeout(timer);
        resolve(match);
      });
    }
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(
        new Error(`Expected a peer that starts, received exit code ${code}\n${said.slice(-20).join('\n')}`),
      );
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('Expected a TCP address');
  return address.port;
}
