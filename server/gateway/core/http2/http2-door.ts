import type { IncomingMessage, Server } from 'node:http';
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Network } from '#server/platform/http-out/networks.ts';
import { isTrusted } from '../client-address.ts';
import type { GatewayResponse } from '../gateway-response.ts';
import { createListener } from '../listener.ts';
import { carryStream, trailersOf } from './carry-stream.ts';
import { sortConnections } from './preface.ts';
import { beginInTurn } from './stream-turns.ts';

export type Http2Options = {
  /** As the listener's, for requests that came by HTTP/2. */
  onRequest(req: IncomingMessage, res: GatewayResponse, arrivedAt: number): void;
  /** Only they may speak HTTP/2 without TLS: everybody else's connection begins with HTTP/1.1 or not at all. */
  trustedProxies: readonly Network[];
  idleMs?: number | undefined;
  stalledMs?: number | undefined;
};

export type Http2Door = {
  /** Takes no new requests (GOAWAY); running ones finish. */
  close(): void;
  destroy(): void;
};

/**
 * HTTP/2 with prior knowledge (RFC 9113 §3.3) on the port of an HTTP/1.1 server, for trusted proxies. Every stream is served as a request of HTTP/1.1
 * (carry-stream.ts). What is bounded here is what a connection costs besides its calls: streams at a time, header lists, frames that want an answer, streams
 * that are opened to be reset, time without anything.
 */
export function openHttp2(server: Server, { onRequest, trustedProxies, idleMs = 65_000, stalledMs }: Http2Options): Http2Door {
  const inner = createListener({ onRequest, trustedProxies, stalledMs });
  const sessions = new Set<ServerHttp2Session>();
  let closing = false;
  const http2 = createServer({
    settings: { enablePush: false, maxConcurrentStreams: 128, maxHeaderListSize: 64 * 1024 },
    // Above the 200 fields of inspectHead, which answers; beyond, the stream is reset.
    maxHeaderListPairs: 256,
    maxSettings: 32,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    // In megabytes: what is on its way for all streams of one connection.
    maxSessionMemory: 32,
    // CVE-2023-44487: a proxy cancels what its callers cancel, but not twice all that it may have open at once, nor a hundred a second for long. All connections
    // may do so in one turn of the loop.
    streamResetBurst: 256,
    streamResetRate: 100,
    strictSingleValueFields: false,
  });
  http2.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.on('error', () => undefined); // 'close' follows
    let open = 0;
    session.on('stream', (stream) => {
      open++;
      stream.once('close', () => open--);
    });
    session.setTimeout(idleMs, () => {
      if (open === 0) end(session);
    });
    if (closing) end(session);
  });
  http2.on('stream', (stream: ServerHttp2Stream, _: unknown, flags: number, raw: string[]) => {
    stream.on('error', () => undefined); // 'close' follows
    const peer = stream.session?.socket.remoteAddress ?? '';
    const trailers = trailersOf(stream);
    beginInTurn(stream, () => carryStream(stream, { raw, flags, trailers, peer }, (socket) => inner.emit('connection', socket)));
  });
  http2.on('sessionError', () => undefined);
  sortConnections(server, {
    mayBeHttp2: (socket: Socket) => isTrusted(peerOf(socket), trustedProxies),
    http2: (socket: Socket) => http2.emit('connection', socket),
  });
  return {
    close() {
      closing = true;
      for (const session of sessions) session.close();
    },
    destroy() {
      for (const session of sessions) session.destroy();
    },
  };
}

const peerOf = ({ remoteAddress = '' }: Socket): string => (remoteAddress.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress);

/** Says so first; a peer that doesn't hang up is hung up on. */
function end(session: ServerHttp2Session): void {
  session.close();
  setTimeout(() => session.destroy(), 1_000).unref();
}
