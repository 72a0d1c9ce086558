import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly address: string;
  /** From now on, a connection whose client sends this text is ended before the server sees it; undefined: none is. */
  cutOn(text: string | undefined): void;
  /** Connections that were cut. */
  cuts(): number;
  close(): Promise<void>;
}

/** A TCP proxy that fails where a test wants a network to fail: between two commands of one write. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const [host = '', port] = target.split(':');
  const sockets = new Set<Socket>();
  let needle: string | undefined;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
      socket.on('error', () => socket.destroy());
    }
    client.on('data', (chunk) => {
      if (needle !== undefined && chunk.includes(needle)) {
        cuts += 1;
        client.destroy();
      } else upstream.write(chunk);
    });
    upstream.pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a TCP address');
  return {
    address: `127.0.0.1:${address.port}`,
    cutOn: (text) => {
      needle = text;
    },
    cuts: () => cuts,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
