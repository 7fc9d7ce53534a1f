import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Hangs up on callers that take nothing of their answer for `ms` (up to twice that when the last write was taken in part): nothing else ends
 * such a connection, and each holds the memory of an answer or a connection to the web process. node notes what a slow reader does take, so it
 * may take its time. Only connections with something left to send get a timer: all others cost nothing.
 */
export function endStalledCallers(server: Server, ms: number, answerOf: (socket: Socket) => ServerResponse | undefined): void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const sweep = setInterval(
    () => {
      for (const socket of open) if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(ms);
    },
    Math.min(ms / 2, 5_000),
  );
  sweep.unref();
  server.once('close', () => clearInterval(sweep));
  // Idle connections between calls come here as well: node gives them a timer of its own.
  server.on('timeout', (socket: Socket) => {
    const answer = answerOf(socket);
    const waits = socket.writableLength === 0 && answer !== undefined && !answer.writableFinished;
    if (waits) socket.setTimeout(0);
    else socket.destroy();
  });
}
