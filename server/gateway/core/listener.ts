import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { uuidV7 } from '#server/crypto/random.ts';
import { members } from '#server/kernel/list-header.ts';
import type { Network } from '#server/platform/http-out/networks.ts';
import { bareRefusal, endReading, refuseSocket } from './bare-refusal.ts';
import { type BodyFault, breakBody } from './broken-body.ts';
import { countRefusal } from './call-meter.ts';
import { afterReads, flushTurn } from './event-loop-turn.ts';
import { GatewayResponse } from './gateway-response.ts';
import { boundIdleConnections } from './idle-connections.ts';
import { endStalledCallers } from './stalled-callers.ts';

export { type Head, type HeadRefusal, inspectHead } from './request-head.ts';

export type ListenerOptions = {
  /**
   * Called for every request with a parseable head whose caller is still there, also when it expects 100-continue: whoever reads the body calls acceptBody
   * first. `arrivedAt`, on performance.now()'s clock: when it was read, which may be a little before, and parts of its body may have come since.
   */
  onRequest(req: IncomingMessage, res: GatewayResponse, arrivedAt: number): void;
  /** Whether everything that comes here is for paths under /v1, so that what can't be read is refused as they are. */
  isApi?: boolean | undefined;
  /** Takes over the connection of a request that `upgrades` picked. */
  onUpgrade?: ((req: IncomingMessage, socket: Duplex, first: Buffer) => void) | undefined;
  /** Which handshakes become WebSockets; every other request that brings Upgrade is an ordinary one. */
  upgrades?: ((req: IncomingMessage) => boolean) | undefined;
  headersTimeoutMs?: number | undefined;
  /** First byte of a request to its last (body total, interface rule 12 §17). */
  requestTimeoutMs?: number | undefined;
  keepAliveTimeoutMs?: number | undefined;
  /** How long a caller may take nothing of an answer that waits for it. */
  stalledMs?: number | undefined;
  maxConnections?: number | undefined;
  /** Connections of one network beyond which idle ones are closed; a tenth of all places without it. */
  maxPerNetwork?: number | undefined;
  /** How long a new connection counts as one that is about to bring a call. */
  graceMs?: number | undefined;
  trustedProxies?: readonly Network[] | undefined;
  newRequestId?: (() => string) | undefined;
};

/**
 * An HTTP/1.1 server that answers malformed requests in the service's own format and has a timeout for every wait. It does not
 * listen yet. Limits stand above those of inspectHead, so that the usual excess gets a full answer and only the absurd is cut here.
 */
export function createListener(options: ListenerOptions): Server {
  const { onRequest, onUpgrade, upgrades, newRequestId = uuidV7 } = options;
  const headersTimeout = options.headersTimeoutMs ?? 10_000;
  const unread = options.isApi ? '/v1' : '';
  const server = createServer({
    ServerResponse: GatewayResponse,
    insecureHTTPParser: false,
    // Judged by inspectHead instead: node's own answer to a missing Host has no request id.
    requireHostHeader: false,
    maxHeaderSize: 64 * 1024,
    headersTimeout,
    requestTimeout: Math.max(headersTimeout, options.requestTimeoutMs ?? 300_000),
    // The default of 30 s would make every timeout up to 30 s late.
    connectionsCheckingInterval: Math.min(1_000, headersTimeout),
    // Longer than the idle time of usual load balancers, so that they are the ones to hang up.
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 65_000,
    noDelay: true,
    shouldUpgradeCallback: (req) => onUpgrade !== undefined && upgrades?.(req) === true,
  });
  // node drops what is beyond this number without a word; above 200 fields the request is refused anyway.
  server.maxHeadersCount = 1_000;
  server.maxConnections = options.maxConnections ?? 20_000;

  const open = new WeakMap<Duplex, GatewayResponse>();
  const upgraded = new WeakSet<Duplex>();
  const take = (req: IncomingMessage, res: GatewayResponse) => {
    const { socket } = req;
    open.set(socket, res);
    const arrivedAt = performance.now();
    afterReads(() => {
      if (socket.writable) onRequest(req, res, arrivedAt); // not behind an answer that closed the connection
    });
  };
  /** Connections whose next bytes can't be read as HTTP: nothing more is served on them. */
  const broken = new WeakSet<Duplex>();
  server.on('connection', (socket: Socket) =>
    closeAfterReading(
      socket,
      () => open.get(socket),
      () => broken.has(socket),
    ),
  );
  endStalledCallers(server, options.stalledMs ?? 30_000, (socket) => open.get(socket));
  boundIdleConnections(server, {
    most: options.maxPerNetwork ?? server.maxConnections / 10,
    graceMs: options.graceMs ?? 1_000,
    trustedProxies: options.trustedProxies ?? [],
    isBusy(socket) {
      const answer = open.get(socket);
      return upgraded.has(socket) || (answer !== undefined && !(answer.writableFinished && answer.req.complete));
    },
  });
  server.on('request', take);
  server.on('checkContinue', take);
  // inspectHead refuses it.
  server.on('checkExpectation', take);
  if (onUpgrade)
    server.on('upgrade', (req, socket, head) => {
      upgraded.add(socket);
      onUpgrade(req, socket, head);
    });
  server.on('connect', (_: IncomingMessage, socket: Duplex) => {
    const refusal = bareRefusal('method_not_allowed', 'CONNECT is not supported.', newRequestId(), unread);
    refusal.headers.Allow = METHODS.join(', ');
    countRefusal('method_not_allowed');
    refuseSocket(socket, 405, refusal);
  });

  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket) => {
    if (broken.has(socket)) return;
    broken.add(socket);
    // Earlier requests on this connection are answered first.
    flushTurn();
    const newest = open.get(socket);
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    // Who ends a connection in the middle of a body has gone away, unless answers to requests before it are on their way.
    if (error.code === 'HPE_INVALID_EOF_STATE' && newest !== undefined && !newest.req.complete && newest.socket !== null) {
      socket.destroy();
      return;
    }
    if (newest !== undefined && !newest.writableFinished) {
      endAfter(newest, socket, error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'late' : 'malformed');
      return;
    }
    const [status, type, message] = CLIENT_ERRORS[error.code ?? ''] ?? MALFORMED;
    countRefusal(type);
    refuseSocket(socket, status, bareRefusal(type, message, newRequestId(), targetIn(error.rawPacket) ?? unread));
  });
  return server;
}

/**
 * What came can't be read as HTTP while requests before it wait for their answers: those are given in their order, the connection ends behind the last, and nobody is
 * told of the rest, which a caller would take for the answer to its next request (RFC 9112 §9.3.2, §9.6). Where the newest request itself is broken, whoever reads its body
 * refuses it in its own words; an answer that has begun is broken off.
 */
function endAfter(newest: GatewayResponse, socket: Socket, fault: BodyFault): void {
  if (!newest.req.complete && newest.headersSent) {
    socket.destroy();
    return;
  }
  if (!newest.headersSent) newest.shouldKeepAlive = false;
  newest.once('finish', () => socket.destroySoon());
  if (!newest.req.complete) breakBody(newest.req, fault);
}

/** Every method any plane knows (interface rule 12 §8). */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Says 100 Continue when the caller waits for it. Call before the first read of a body, after everything that may refuse it. */
export function acceptBody(req: IncomingMessage, res: ServerResponse): void {
  if (members(req.headers.expect?.toLowerCase()).includes('100-continue') && req.httpVersionMinor > 0) res.writeContinue();
}

/**
 * node closes a connection as soon as its last answer is written. What the caller is still sending then brings a reset, which most clients report instead of
 * the answer: such a connection is closed for writing only, until its request was read off (RFC 9112 §9.6).
 */
function closeAfterReading(socket: Socket, newest: () => GatewayResponse | undefined, isBroken: () => boolean): void {
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (isBroken()) return endReading(socket);
    const answer = newest();
    const req = answer?.req;
    // A request that came behind the answered one ends as broken: its body is not ours to read off.
    if (!req || !answer.writableFinished || req.complete || req.destroyed) return close();
    socket.end();
    req.once('close', close);
    discardBody(req);
  };
}

/**
 * Reads and throws away what is left of a body after the answer was written, so that the caller gets to read the answer instead of a
 * reset; gives up, and hangs up, after `maxBytes` or `ms`. The buffers of a fast connection alone hold several megabytes: who hangs up before they are
 * read resets it, and most clients then report the reset instead of the answer.
 */
export function discardBody(req: IncomingMessage, maxBytes = 32 * 1024 * 1024, ms = 2_000): void {
  if (req.complete || req.destroyed) return;
  let left = maxBytes;
  const hangUp = () => req.socket.destroy();
  const timer = setTimeout(hangUp, ms);
  req.removeAllListeners('data');
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) hangUp();
  });
  req.once('close', () => clearTimeout(timer));
  req.once('end', () => clearTimeout(timer));
  req.on('error', () => undefined);
  req.resume();
}

const MALFORMED = [400, 'invalid_request', 'The request is not valid HTTP/1.1.'] as const;
const CLIENT_ERRORS: Readonly<Record<string, readonly [number, string, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'invalid_request', 'The request was not received in time.'],
};

/** The target of a head that can't be read, when its first line can and these are its bytes. */
const targetIn = (bytes: Buffer | undefined): string | undefined =>
  /^[A-Z]{1,20} (\/[!-~]{0,200})/.exec(bytes?.toString('latin1', 0, 300) ?? '')?.[1];
