import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { isErrataError } from '../domain/errors.js';
import { originOf } from './authentication.js';
import { isTrustedOrigin } from './cross-origin.js';
import { GRAPHQL_PATH } from './graphql-route.js';
import {
  createSocketProtocol,
  type SocketSession,
  UNAUTHORIZED_CLOSE,
  type WebSocketParts,
} from './socket-protocol.js';

/** Clients that do not answer a close frame within this time are cut. */
const CLOSE_GRACE_MS = 1_000;

/**
 * graphql-transport-ws on the path of the HTTP endpoint. The key comes in the upgrade's Authorization header or in
 * `connection_init` as `authorization`; pages of foreign origins are refused at the upgrade.
 *
 * @returns what closes every connection.
 */
export function attachWebSocket(server: Server, parts: WebSocketParts): { close(): Promise<void> } {
  const { config, logger } = parts;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: config.webSocket.maxPayloadBytes,
    handleProtocols,
  });
  const protocol = createSocketProtocol(parts);

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Without a listener a reset during the handshake would end the process.
    socket.on('error', () => socket.destroy());
    const [path] = (request.url ?? '').split('?', 1);
    const { origin, host } = request.headers;
    if (path !== GRAPHQL_PATH) refuseUpgrade(socket, '404 Not Found');
    else if (origin !== undefined && !isTrustedOrigin(origin, host, config.trustedOrigins)) {
      refuseUpgrade(socket, '403 Forbidden');
    } else if (sockets.clients.size >= config.webSocket.maxConnections) {
      logger.warn({ limit: config.webSocket.maxConnections }, 'too many WebSocket connections: one refused');
      refuseUpgrade(socket, '503 Service Unavailable');
    } else {
      sockets.handleUpgrade(request, socket, head, (webSocket) => serve(webSocket, request));
    }
  };

  const serve = (socket: WebSocket, request: IncomingMessage): void => {
    const session: SocketSession = {
      authorization: request.headers.authorization,
      origin: originOf(request),
      operations: new Map(),
      refuse: () => socket.close(UNAUTHORIZED_CLOSE, 'Unauthenticated'),
    };
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (data) => send(socket, data),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (listener) => {
          socket.on('message', (data) => {
            listener(String(data)).catch((error: unknown) => {
              logger.warn(
                { error: error instanceof Error ? error.name : typeof error },
                'socket message failed',
              );
              socket.close(1_011, 'Internal error');
            });
          });
        },
      },
      session,
    );
    const stopKeepAlive = keepAlive(socket, parts, session);
    socket.on('error', (error) => {
      // A payload over the limit, or a broken frame: ws closes the connection itself.
      logger.debug({ error: error.name }, 'socket error');
    });
    socket.once('close', (code, reason) => {
      stopKeepAlive();
      closed(code, String(reason)).catch((error: unknown) => {
        logger.warn({ error: error instanceof Error ? error.name : typeof error }, 'socket clean-up failed');
      });
    });
  };

  server.on('upgrade', onUpgrade);
  return {
    close: async () => {
      server.off('upgrade', onUpgrade);
      const open = [...sockets.clients];
      const gone = open.map(
        (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
      );
      for (const socket of open) socket.close(1_001, 'Going away');
      const timer = setTimeout(() => {
        for (const socket of open) socket.terminate();
      }, CLOSE_GRACE_MS);
      await Promise.all(gone);
      clearTimeout(timer);
    },
  };
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function send(socket: WebSocket, data: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.readyState !== socket.OPEN) resolve();
    else socket.send(data, (error) => (error == null ? resolve() : reject(error)));
  });
}

/** Pings, cuts who does not answer, and checks the key again, so that a revoked key loses its subscriptions too. */
function keepAlive(socket: WebSocket, parts: WebSocketParts, session: SocketSession): () => void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
    if (session.caller === undefined) return;
    parts.authenticate(session.authorization).catch((error: unknown) => {
      // A store that is away for a moment is no reason to drop everyone.
      if (isErrataError(error, 'UNAUTHENTICATED')) session.refuse();
    });
  }, parts.config.webSocket.keepAliveMs);
  timer.unref();
  return () => clearInterval(timer);
}
