import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { uuidV7 } from '#server/crypto/random.ts';
import { bareRefusal, refuseSocket } from '../core/bare-refusal.ts';

/**
 * The hot-reload socket of `npm run dev`: WebSocket handshakes below /_next/ on the dashboard's own port are piped to the web process. Never in
 * production; every other handshake there is closed.
 */
export function forwardDevSocket(socketPath: string) {
  return (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
    if (!req.url?.startsWith('/_next/')) {
      refuseSocket(socket, 404, bareRefusal('not_found', 'No such path.', uuidV7()));
      return;
    }
    const web = connect(socketPath, () => {
      const lines = [`GET ${req.url} HTTP/1.1`];
      for (let i = 0; i < req.rawHeaders.length; i += 2) lines.push(`${req.rawHeaders[i]}: ${req.rawHeaders[i + 1]}`);
      web.write(`${lines.join('\r\n')}\r\n\r\n`);
      web.write(head);
      web.pipe(socket).pipe(web);
    });
    web.on('error', () => socket.destroy());
    web.on('close', () => socket.destroy());
    socket.on('close', () => web.destroy());
  };
}
