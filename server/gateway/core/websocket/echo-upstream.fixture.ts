import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after } from 'node:test';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export type EchoUpstream = {
  url: string;
  /** Heads of handshakes. */
  handshakes: IncomingMessage[];
  /** Sockets that are open. */
  sockets: Set<Socket>;
  /** Close codes that callers' sides sent. */
  closed: (number | null)[];
};

/** An upstream that speaks RFC 6455 by hand: it sends back the payload of every text or binary frame, and answers a close with the same. */
export async function startEchoUpstream(): Promise<EchoUpstream> {
  const server = createServer((_, res) => res.writeHead(200, { 'content-type': 'text/plain' }).end('not a socket'));
  const echo: EchoUpstream = { url: '', handshakes: [], sockets: new Set(), closed: [] };
  server.on('upgrade', (req, socket: Socket, first: Buffer) => {
    echo.handshakes.push(req);
    if (req.url?.includes('refused')) {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno');
      return;
    }
    echo.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => echo.sockets.delete(socket));
    const accept = createHash('sha1').update(`${req.headers['sec-websocket-key']}${GUID}`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nX-Svc-Origin: forged\r\n\r\n`,
    );
    let held = Buffer.from(first);
    const read = () => {
      for (let frame = firstFrame(held); frame; frame = firstFrame(held)) {
        held = held.subarray(frame.bytes);
        if (frame.opcode === 8) {
          echo.closed.push(frame.payload.length >= 2 ? frame.payload.readUInt16BE(0) : null);
          socket.end(written(8, frame.payload));
        } else socket.write(written(frame.opcode, frame.payload));
      }
    };
    socket.on('data', (bytes: Buffer) => {
      held = Buffer.concat([held, bytes]);
      read();
    });
    read();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    for (const socket of echo.sockets) socket.destroy();
    server.close();
  });
  echo.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return echo;
}

function firstFrame(held: Buffer): { opcode: number; payload: Buffer; bytes: number } | undefined {
  if (held.length < 2) return undefined;
  const short = (held[1] as number) & 0x7f;
  const extended = { 126: 2, 127: 8 }[short] ?? 0;
  const begin = 2 + extended + 4;
  if (held.length < begin) return undefined;
  const length = extended === 0 ? short : extended === 2 ? held.readUInt16BE(2) : Number(held.readBigUInt64BE(2));
  if (held.length < begin + length) return undefined;
  const mask = held.subarray(begin - 4, begin);
  const payload = Buffer.from(held.subarray(begin, begin + length).map((byte, i) => byte ^ (mask[i % 4] as number)));
  return { opcode: (held[0] as number) & 0x0f, payload, bytes: begin + length };
}

function written(opcode: number, payload: Buffer): Buffer {
  const head =
    payload.length < 126
      ? Buffer.from([0x80 | opcode, payload.length])
      : payload.length < 65_536
        ? Buffer.from([0x80 | opcode, 126, payload.length >> 8, payload.length & 0xff])
        : Buffer.concat([Buffer.from([0x80 | opcode, 127, 0, 0, 0, 0]), Buffer.from(new Uint32Array([payload.length]).buffer).reverse()]);
  return Buffer.concat([head, payload]);
}
