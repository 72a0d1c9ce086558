import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createProxyFetch } from '../../../src/adapters/http/proxy-fetch.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A proxy that tunnels, as one for https does; undici also reaches plain http that way. */
async function proxy(): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    const [host, port] = String(request.url).split(':');
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
    target.on('error', () => socket.destroy());
    socket.on('error', () => target.destroy());
  });
  return { address: await listen(server), asked };
}

describe('createProxyFetch', () => {
  it('goes through the proxy, except to hosts of NO_PROXY', async () => {
    const origin = await listen(createServer((_, response) => response.end('origin')));
    const { address, asked } = await proxy();
    const through = createProxyFetch({ http: address });
    expect(await (await through(`http://${origin}/x`)).text()).toBe('origin');
    expect(asked).toEqual([origin]);
    const around = createProxyFetch({ http: `http://${address}`, bypass: '127.0.0.1' });
    expect(await (await around(`http://${origin}/x`)).text()).toBe('origin');
    expect(asked).toEqual([origin]);
  });

  it('is Node’s own without proxies', () => {
    expect(createProxyFetch(undefined)).toBe(fetch);
    expect(createProxyFetch({ bypass: '*' })).toBe(fetch);
  });

  it('refuses other kinds of proxies without showing their addresses', () => {
    for (const http of ['socks5://user:secret@proxy:1080', 'http://%'])
      expect(() => createProxyFetch({ http })).toThrowError(
        expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.not.stringContaining('secret') }),
      );
  });
});
