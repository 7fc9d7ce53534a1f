import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Connect } from './connector.ts';
import { classifyFault, UpstreamFault } from './faults.ts';
import { Http2Stream } from './http2-stream.ts';
import type { ConnectionCounts } from './origin-pool.ts';
import { type Carrier, UpstreamCall, type UpstreamHandler, type UpstreamRequest } from './upstream-call.ts';

export type Http2PoolOptions = {
  /** Offers `h2` alone where it speaks TLS. */
  connect: Connect;
  scheme: 'https' | 'http';
  /** For messages to callers. */
  host: string;
  /** Connections at one time; calls that find no stream free on any of them wait, in their order. */
  connections: number;
  idleMs: number;
  /** A connection older than this takes no new call, so that DNS and guard settings are asked again. */
  maxAgeMs: number;
  /** A busy connection is asked for a sign of life so often, and given half of that for it. */
  pingMs?: number | undefined;
};

/** Streams at a time on a connection whose upstream has not said how many it wants, or wants any number. */
const MOST_STREAMS = 100;

const SETTINGS = {
  settings: { enablePush: false, maxHeaderListSize: 64 * 1024 },
  // Secrets of one call leave nothing behind by which another could guess at them.
  maxDeflateDynamicTableSize: 0,
  maxHeaderListPairs: 1_000,
  // In megabytes.
  maxSessionMemory: 64,
  maxSettings: 32,
  maxReservedRemoteStreams: 0,
  strictSingleValueFields: false,
};

type Connection = {
  readonly session: ClientHttp2Session;
  readonly socket: Socket;
  readonly bornAt: number;
  freeAt: number;
  streams: number;
  /** Takes no new call. */
  retired: boolean;
};

/** The connections of HTTP/2 to one origin, each with many calls, and the calls that wait for a stream. */
export class Http2Pool implements Carrier {
  readonly #options: Http2PoolOptions;
  readonly #open = new Set<Connection>();
  readonly #waiting: UpstreamCall[] = [];
  #opening = 0;
  #closing = false;
  #whenEmpty: (() => void) | undefined;
  /** When it was last asked for something, on performance.now()'s clock. */
  usedAt = performance.now();

  constructor(options: Http2PoolOptions) {
    this.#options = options;
  }

  get idleOnly(): boolean {
    return this.#opening + this.#waiting.length === 0 && [...this.#open].every(({ streams }) => streams === 0);
  }

  countInto(all: ConnectionCounts): void {
    const idle = [...this.#open].filter(({ streams }) => streams === 0).length;
    all.used += this.#open.size - idle;
    all.idle += idle;
    all.opening += this.#opening;
    all.waiting += this.#waiting.length;
  }

  /** Sends a request, at once when a stream is free. Nothing is told to the handler before this returns. */
  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    this.usedAt = performance.now();
    const call = new UpstreamCall(request, handler, this);
    this.#waiting.push(call);
    this.#carry();
    return call;
  }

  /** Lets go of connections whose time is over, and of those that give no sign of life. */
  sweep(now: number): void {
    const { idleMs, maxAgeMs } = this.#options;
    for (const connection of this.#open) {
      if (now - connection.bornAt >= maxAgeMs || (connection.streams === 0 && now - connection.freeAt >= idleMs)) this.#retire(connection);
    }
  }

  /** Lets running and waiting calls finish, then resolves. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#closing = true;
      this.#whenEmpty = resolve;
      this.#settle();
    });
  }

  // --- calls that wait -------------------------------------------------------------------------------------------------------------

  abort(call: UpstreamCall): void {
    call.carrier = null;
    const at = this.#waiting.indexOf(call);
    if (at >= 0) this.#waiting.splice(at, 1);
    this.#settle();
  }
  pause(): void {}
  resume(): void {}

  #carry(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#free();
      if (!connection) break;
      this.#start(connection, this.#waiting.shift() as UpstreamCall);
    }
    if (this.#waiting.length > 0 && this.#opening === 0 && this.#open.size < this.#options.connections) void this.#openOne();
  }

  #free(): Connection | undefined {
    const now = performance.now();
    for (const connection of this.#open) {
      const { session, streams, retired, bornAt } = connection;
      if (retired || session.closed || session.destroyed) continue;
      if (now - bornAt >= this.#options.maxAgeMs) this.#retire(connection);
      else if (streams < Math.min(MOST_STREAMS, session.remoteSettings?.maxConcurrentStreams ?? MOST_STREAMS)) return connection;
    }
    return undefined;
  }

  #start(connection: Connection, call: UpstreamCall): void {
    const { host, scheme } = this.#options;
    connection.streams++;
    const closed = () => {
      connection.streams--;
      connection.freeAt = performance.now();
      if (connection.retired) this.#retire(connection);
      this.#carry();
      this.#settle();
    };
    try {
      new Http2Stream(connection.session, call, host, scheme, closed);
    } catch (error) {
      connection.streams--;
      process.nextTick(() => this.#refuse(call, error));
    }
  }

  // --- connections -----------------------------------------------------------------------------------------------------------------

  async #openOne(): Promise<void> {
    this.#opening++;
    try {
      const dialled = await this.#dial();
      this.#opening--;
      this.#take(dialled);
    } catch (error) {
      this.#opening--;
      // Who waits behind tries a connection of its own.
      this.#refuse(this.#waiting.shift(), error);
    }
    this.#carry();
    this.#settle();
  }

  async #dial(): Promise<Pick<Connection, 'session' | 'socket'>> {
    const { connect, host, scheme } = this.#options;
    const socket = await connect();
    if (scheme === 'https' && (socket as TLSSocket).alpnProtocol !== 'h2') {
      socket.destroy();
      throw new UpstreamFault('upstream_protocol_error', `The host ${host} doesn't offer HTTP/2.`, { phase: 'connect' });
    }
    return new Promise((resolve, reject) => {
      const session = connectHttp2(`${scheme}://upstream.invalid`, {
        ...SETTINGS,
        createConnection: () => socket,
      });
      const failed = (error: Error) => {
        clearTimeout(late);
        hangUp(session, socket);
        const message = `The host ${host} doesn't speak HTTP/2.`;
        reject(new UpstreamFault('upstream_protocol_error', message, { phase: 'connect', cause: error }));
      };
      const late = setTimeout(() => failed(new Error('no settings came')), 5_000);
      session.once('error', failed);
      session.once('close', () => failed(new Error('the connection was closed')));
      // The first frame of an upstream that speaks HTTP/2, with how many streams it takes.
      session.once('remoteSettings', () => {
        clearTimeout(late);
        session.off('error', failed);
        resolve({ session, socket });
      });
    });
  }

  #take({ session, socket }: Pick<Connection, 'session' | 'socket'>): void {
    const now = performance.now();
    const connection: Connection = { session, socket, bornAt: now, freeAt: now, streams: 0, retired: false };
    this.#open.add(connection);
    const watch = setInterval(() => this.#askForLife(connection), this.#options.pingMs ?? 20_000).unref();
    session.on('error', () => undefined); // its streams tell their calls
    session.on('goaway', () => {
      connection.retired = true;
    });
    session.once('close', () => {
      clearInterval(watch);
      this.#open.delete(connection);
      this.#carry();
      this.#settle();
    });
    session.unref();
  }

  #askForLife({ session, socket, streams }: Connection): void {
    if (streams === 0 || session.closed || session.destroyed) return;
    const late = setTimeout(() => hangUp(session, socket, new Error('no sign of life')), (this.#options.pingMs ?? 20_000) / 2);
    late.unref();
    if (!session.ping(() => clearTimeout(late))) clearTimeout(late);
  }

  #retire(connection: Connection): void {
    connection.retired = true;
    if (connection.streams === 0) hangUp(connection.session, connection.socket);
  }

  #refuse(call: UpstreamCall | undefined, error: unknown): void {
    if (!call || call.carrier === null) return;
    call.carrier = null;
    const fault = classifyFault(error, this.#options.host);
    call.handler.onFault(fault === error ? fault : new UpstreamFault(fault.type, fault.message, { phase: 'connect', cause: error }));
  }

  #settle(): void {
    if (!this.#closing || !this.idleOnly) return;
    for (const connection of this.#open) this.#retire(connection);
    this.#whenEmpty?.();
  }
}

/** A session alone would wait for its peer to hang up as well. */
function hangUp(session: ClientHttp2Session, socket: Socket, reason?: Error): void {
  session.destroy(reason);
  socket.destroy();
}
