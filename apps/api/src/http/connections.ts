import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Lets a server close as soon as its last answer is out. Node closes the connections that idle at that instant, but neither those that
 * turn idle after it (they are kept alive) nor those that never sent a request (browsers and clients open some in advance).
 *
 * @returns what to call when the server closes.
 */
export function closeConnectionsWhenIdle(server: Server): () => void {
  const busy = new Map<Socket, number>();
  let isClosing = false;
  const endIfIdle = (socket: Socket): void => {
    if (isClosing && busy.get(socket) === 0) socket.end();
  };
  server.on('connection', (socket) => {
    busy.set(socket, 0);
    socket.once('close', () => busy.delete(socket));
    endIfIdle(socket);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    busy.set(socket, (busy.get(socket) ?? 0) + 1);
    response.once('close', () => {
      if (!busy.has(socket)) return;
      busy.set(socket, (busy.get(socket) ?? 1) - 1);
      endIfIdle(socket);
    });
  });
  return () => {
    isClosing = true;
    for (const socket of busy.keys()) endIfIdle(socket);
  };
}
