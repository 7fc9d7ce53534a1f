import type { Socket } from 'node:net';
import { freeBytes } from '../free-bytes.ts';
import { type Connect, READ_BYTES } from './connector.ts';
import { classifyFault, UpstreamFault } from './faults.ts';
import { hasOddBody, requestHead } from './request-head.ts';
import { type HeaderList, MalformedResponse, type ResponseEvents, ResponseParser } from './response-parser.ts';
import type { BodySink, Carrier, UpstreamCall } from './upstream-call.ts';

/** Up to here copying a body is cheaper than a second buffer in the write. */
const ONE_WRITE = 16 * 1024;
/** Up to here copying a chunk of a body is cheaper than three buffers in the write. */
const ONE_CHUNK = 1024;
/** So much before the upstream hangs up an idle connection is not used any more. */
const IDLE_MARGIN_MS = 1_000;

/** Told by a connection to its pool: it is free for the next call, or gone. */
export type ConnectionOwner = { freed(connection: UpstreamConnection): void; closed(connection: UpstreamConnection): void };

/**
 * One connection to an upstream and the one call it carries at a time (RFC 9112 §9; no pipelining). Whatever is not exactly one request
 * followed by exactly one well-formed answer closes it, so that nothing of one call can become part of another.
 */
export class UpstreamConnection implements Carrier, ResponseEvents, BodySink {
  readonly #owner: ConnectionOwner;
  readonly #host: string;
  readonly #parser = new ResponseParser(this);
  #socket: Socket | undefined;
  #call: UpstreamCall | null = null;
  #served = 0;
  /** All of the current request was given to the socket. */
  #sent = true;
  /** Bytes that are left of a body of known length; null: it goes in chunks. */
  #bodyLeft: number | null = 0;
  #paused = false;
  #encrypted = false;
  #error: Error | undefined;
  bornAt = 0;
  /** When the connection must not be used any more unless it serves a call, on performance.now()'s clock. */
  usableUntil = 0;

  constructor(owner: ConnectionOwner, host: string) {
    this.#owner = owner;
    this.#host = host;
  }

  /** Connects; rejects with UpstreamFault. The owner is told of the end of a connection that was opened, not of one that was not. */
  async open(connect: Connect, lend = true): Promise<void> {
    const socket = await connect(lend ? (bytes) => this.#received(bytes) : undefined);
    this.#socket = socket;
    this.#encrypted = 'encrypted' in socket;
    this.bornAt = performance.now();
    this.usableUntil = Number.POSITIVE_INFINITY;
    if (!lend) socket.on('data', (bytes: Buffer) => this.#received(bytes));
    socket.on('drain', () => this.#drained());
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.on('end', () => this.#ended());
    socket.on('close', () => this.#closed());
    if (socket.destroyed) this.#closed();
  }

  get alive(): boolean {
    return this.#socket !== undefined && !this.#socket.destroyed && this.#socket.writable && this.#socket.readable;
  }

  /** Sends a call's request. Faults are told on a later turn, as those of the network are. */
  carry(call: UpstreamCall): void {
    const socket = this.#socket as Socket; // open() is done
    const { method, body, upgrade } = call.request;
    this.#call = call;
    call.carrier = this;
    call.carried = true;
    this.#parser.begin(method, upgrade !== undefined);
    let head: string;
    try {
      head = requestHead(call.request);
    } catch (error) {
      process.nextTick(() => this.#fail(classifyFault(error, this.#host)));
      return;
    }
    if (body === null || body === undefined || Buffer.isBuffer(body)) {
      this.#sent = true;
      if (!body || body.length === 0) socket.write(head, 'latin1');
      else if (body.length <= ONE_WRITE) socket.write(head + body.toString('latin1'), 'latin1');
      else {
        socket.cork();
        socket.write(head, 'latin1');
        socket.write(body, (error) => {
          if (!error) call.bodySent = true;
        });
        socket.uncork();
      }
      return;
    }
    this.#sent = false;
    this.#bodyLeft = body.length;
    socket.write(head, 'latin1');
    body.source.start(this);
  }

  // --- the request's body ----------------------------------------------------------------------------------------------------------

  write(bytes: Buffer): boolean {
    const socket = this.#socket;
    if (!socket || this.#sent || this.#call === null) return true; // the call is over: what comes late is dropped
    if (bytes.length === 0) return true;
    if (this.#bodyLeft !== null) {
      this.#bodyLeft -= bytes.length;
      if (this.#bodyLeft < 0) {
        this.#fail(new UpstreamFault('aborted', 'The body is longer than its Content-Length.'));
        return true;
      }
      return socket.write(bytes, (error) => free(bytes, error));
    }
    const size = bytes.length.toString(16);
    if (bytes.length <= ONE_CHUNK) {
      const more = socket.write(`${size}\r\n${bytes.toString('latin1')}\r\n`, 'latin1');
      freeBytes(bytes);
      return more;
    }
    socket.cork();
    socket.write(`${size}\r\n`, 'latin1');
    socket.write(bytes, (error) => free(bytes, error));
    const more = socket.write('\r\n', 'latin1');
    socket.uncork();
    return more;
  }

  end(): void {
    if (this.#sent || this.#call === null) return;
    this.#sent = true;
    if (this.#bodyLeft === null) this.#socket?.write('0\r\n\r\n', 'latin1');
    else if (this.#bodyLeft > 0) this.#fail(new UpstreamFault('aborted', 'The body is shorter than its Content-Length.'));
  }

  #drained(): void {
    const body = this.#call?.request.body;
    if (!this.#sent && body && !Buffer.isBuffer(body)) body.source.resume();
  }

  // --- the answer ------------------------------------------------------------------------------------------------------------------

  onHead(status: number, headers: HeaderList, reason: string): void {
    if (status !== 101) this.#call?.handler.onHead(status, headers, reason);
    else this.#upgraded = headers;
  }
  #upgraded: HeaderList | undefined;

  onData(bytes: Buffer): void {
    this.#call?.handler.onData(bytes);
  }

  #received(bytes: Buffer): void {
    // Nobody asked: whatever this is, it is not the answer to the next request.
    if (this.#call === null) this.close();
    else
      this.#guarded(() => {
        const used = this.#parser.push(bytes);
        if (!this.#parser.done || this.#call === null) return;
        if (this.#upgraded) this.#handOver(this.#upgraded, bytes.subarray(used));
        else this.#complete(used === bytes.length, this.#encrypted || bytes.length === READ_BYTES);
      });
  }

  /** What cannot be understood, here or by the handler, is the end of the connection and of its call, and of nothing else. */
  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      const malformed = error instanceof MalformedResponse;
      const message = malformed
        ? `The host ${this.#host} sent a malformed HTTP response.`
        : 'The upstream response could not be processed.';
      this.#fail(new UpstreamFault(malformed ? 'upstream_protocol_error' : 'internal_error', message, { cause: error }));
    }
  }

  /** `maybeMore`: what the upstream has sent may not have been read to its end. */
  #complete(clean: boolean, maybeMore: boolean): void {
    const call = this.#call as UpstreamCall;
    const { idleMs } = this.#parser;
    // Asked before the handler may free the body.
    const keepAlive = this.#parser.keepAlive && !hasOddBody(call.request);
    call.handler.onEnd();
    if (this.#call !== call) return; // the handler gave it up
    this.#call = null;
    call.carrier = null;
    this.#served++;
    if (!clean || !keepAlive || !this.#sent || !this.alive || idleMs <= IDLE_MARGIN_MS) this.close();
    else {
      if (this.#paused) this.resume();
      this.usableUntil = performance.now() + idleMs - IDLE_MARGIN_MS;
      if (!maybeMore) this.#owner.freed(this);
      // It is read before this, and closes the connection: nobody asked for it.
      else setImmediate(() => this.alive && this.#owner.freed(this));
    }
  }

  #handOver(headers: HeaderList, first: Buffer): void {
    const [call, socket] = [this.#call as UpstreamCall, this.#socket as Socket];
    this.#call = null;
    call.carrier = null;
    socket.removeAllListeners('data');
    socket.removeAllListeners('drain');
    call.handler.onUpgrade?.(headers, socket, first);
  }

  // --- ends ------------------------------------------------------------------------------------------------------------------------

  abort(): void {
    this.#parser.stop();
    if (this.#call) this.#call.carrier = null;
    this.#call = null;
    this.#socket?.destroy();
  }

  pause(): void {
    this.#paused = true;
    this.#socket?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#socket?.resume();
  }

  close(): void {
    this.#socket?.destroy();
  }

  #ended(): void {
    if (this.#call !== null && this.#parser.close()) this.#guarded(() => this.#complete(false, false));
  }

  #closed(): void {
    this.#owner.closed(this);
    if (this.#call === null) return;
    const reused = this.#served > 0 && !this.#parser.started;
    this.#fail(classifyFault(this.#error ?? new Error('the connection was closed'), this.#host, reused));
  }

  #fail(fault: UpstreamFault): void {
    const call = this.#call;
    this.#parser.stop();
    this.#call = null;
    this.#socket?.destroy();
    if (!call) return;
    call.carrier = null;
    call.handler.onFault(fault);
  }
}

/** A write that failed may still hold its bytes. */
function free(bytes: Buffer, error: Error | null | undefined): void {
  if (!error) freeBytes(bytes);
}
