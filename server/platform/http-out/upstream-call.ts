import type { Socket } from 'node:net';
import type { UpstreamFault } from './faults.ts';
import type { HeaderList } from './response-parser.ts';

/** Where a body goes: `write` takes the bytes for its own, and says false when the next should wait for `resume`. */
export type BodySink = { write(bytes: Buffer): boolean; end(): void };
/** A body that comes bit by bit. `start` is called once, when there is a connection. */
export type BodySource = { start(sink: BodySink): void; resume(): void };

export type UpstreamRequest = {
  method: string;
  /** The request target, byte for byte. */
  path: string;
  /** Names and values in turn, `Host` among them; what frames the message is added here. */
  headers: HeaderList;
  /** Whole, or as it comes: with its length in bytes, or in chunks when that is null. */
  body?: Buffer | { source: BodySource; length: number | null } | null | undefined;
  /** The protocol to change to, e.g. `websocket`. Such a connection is nobody else's before or after. */
  upgrade?: string | undefined;
  /** What follows the body, asked for when it has ended; only HTTP/2 carries it. */
  trailers?: (() => HeaderList) | undefined;
};

/** What becomes of a request. `onEnd` or `onFault` is the last and comes once; neither comes after `abort`, nor any before `send` returned. */
export interface UpstreamHandler {
  onHead(status: number, headers: HeaderList, reason: string): void;
  /** The bytes are lent: they are overwritten when the call returns. */
  onData(bytes: Buffer): void;
  /** What followed the body, just before `onEnd`; only of HTTP/2. */
  onTrailers?(trailers: HeaderList): void;
  onEnd(): void;
  onFault(fault: UpstreamFault): void;
  /** The upstream changed to the protocol that was asked for; the socket and what it sent already are the handler's now. */
  onUpgrade?(headers: HeaderList, socket: Socket, first: Buffer): void;
}

/** The connection that carries a call, or the queue it waits in. */
export type Carrier = { abort(call: UpstreamCall): void; pause(): void; resume(): void };

/** A request on its way, in the hands of who sent it. */
export class UpstreamCall {
  readonly request: UpstreamRequest;
  readonly handler: UpstreamHandler;
  /** null when the call is over. */
  carrier: Carrier | null;
  /** A connection has taken it: the upstream may have seen it. */
  carried = false;
  /** Nothing is on its way any more with the bytes of a body that was given whole. False also when they were copied. */
  bodySent = false;

  constructor(request: UpstreamRequest, handler: UpstreamHandler, carrier: Carrier) {
    this.request = request;
    this.handler = handler;
    this.carrier = carrier;
  }

  /** Gives the call up; a connection in the middle of it is closed. */
  abort(): void {
    this.carrier?.abort(this);
  }

  /** Reads no more of the answer until `resume`, so that the upstream slows down. */
  pause(): void {
    this.carrier?.pause();
  }

  resume(): void {
    this.carrier?.resume();
  }
}
