import type { Connect } from './connector.ts';
import { classifyFault, UpstreamFault } from './faults.ts';
import { type Carrier, UpstreamCall, type UpstreamHandler, type UpstreamRequest } from './upstream-call.ts';
import { type ConnectionOwner, UpstreamConnection } from './upstream-connection.ts';

export type OriginPoolOptions = {
  connect: Connect;
  /** For messages to callers. */
  host: string;
  /** Sockets at one time; calls beyond wait for one, in their order. */
  connections: number;
  idleMs: number;
  /** A socket older than this serves no new call, so that DNS and guard settings are asked again. */
  maxAgeMs: number;
};

export type ConnectionCounts = { used: number; idle: number; opening: number; waiting: number };

/** The connections to one origin, and the calls that wait for one. */
export class OriginPool implements Carrier, ConnectionOwner {
  readonly #options: OriginPoolOptions;
  readonly #open = new Set<UpstreamConnection>();
  /** The one that was used last is used next, so that a number that was needed once is not kept alive for ever. */
  readonly #idle: UpstreamConnection[] = [];
  readonly #waiting: UpstreamCall[] = [];
  #opening = 0;
  #whenEmpty: (() => void) | undefined;
  /** When it was last asked for something, on performance.now()'s clock. */
  usedAt = performance.now();

  constructor(options: OriginPoolOptions) {
    this.#options = options;
  }

  /** Whether nothing runs, waits, or is kept. */
  get empty(): boolean {
    return this.#open.size + this.#opening + this.#waiting.length === 0;
  }

  get idleOnly(): boolean {
    return this.#open.size === this.#idle.length && this.#opening + this.#waiting.length === 0;
  }

  countInto(all: ConnectionCounts): void {
    all.used += this.#open.size - this.#idle.length;
    all.idle += this.#idle.length;
    all.opening += this.#opening;
    all.waiting += this.#waiting.length;
  }

  /** Sends a request, at once when a connection is free. Nothing is told to the handler before this returns. */
  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    this.usedAt = performance.now();
    const call = new UpstreamCall(request, handler, this);
    if (request.upgrade !== undefined) void this.#dial(call);
    else {
      const connection = this.#takeIdle();
      if (connection) connection.carry(call);
      else {
        this.#waiting.push(call);
        this.#grow();
      }
    }
    return call;
  }

  /** Closes idle connections whose time is over. */
  sweep(now: number): void {
    for (const connection of this.#idle.filter(({ usableUntil }) => usableUntil <= now)) connection.close();
  }

  /** Lets running and waiting calls finish, then resolves. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
      for (const connection of [...this.#idle]) connection.close();
      this.#settle();
    });
  }

  // --- what connections tell -------------------------------------------------------------------------------------------------------

  freed(connection: UpstreamConnection): void {
    const now = performance.now();
    const { idleMs, maxAgeMs } = this.#options;
    connection.usableUntil = Math.min(connection.usableUntil, now + idleMs, connection.bornAt + maxAgeMs);
    const next = connection.usableUntil > now ? this.#waiting.shift() : undefined;
    if (next) connection.carry(next);
    else if (this.#whenEmpty || connection.usableUntil <= now) connection.close();
    else this.#idle.push(connection);
  }

  closed(connection: UpstreamConnection): void {
    if (!this.#open.delete(connection)) return;
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#grow();
    this.#settle();
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

  #takeIdle(): UpstreamConnection | undefined {
    const now = performance.now();
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.alive && connection.usableUntil > now) return connection;
      connection.close();
    }
    return undefined;
  }

  #grow(): void {
    while (this.#opening < this.#waiting.length && this.#open.size + this.#opening < this.#options.connections) void this.#openOne();
  }

  async #openOne(): Promise<void> {
    const connection = new UpstreamConnection(this, this.#options.host);
    this.#opening++;
    try {
      await connection.open(this.#options.connect);
      this.#opening--;
      this.#open.add(connection);
      this.freed(connection);
    } catch (error) {
      this.#opening--;
      this.#refuse(this.#waiting.shift(), error);
      this.#grow();
    }
    this.#settle();
  }

  /** A connection for one call alone, which becomes the caller's. */
  async #dial(call: UpstreamCall): Promise<void> {
    const connection = new UpstreamConnection(this, this.#options.host);
    this.#opening++;
    try {
      await connection.open(this.#options.connect, false);
      this.#open.add(connection);
      if (call.carrier === null) connection.close();
      else connection.carry(call);
    } catch (error) {
      this.#refuse(call, error);
    }
    this.#opening--;
    this.#settle();
  }

  #refuse(call: UpstreamCall | undefined, error: unknown): void {
    if (!call || call.carrier === null) return;
    call.carrier = null;
    const fault = classifyFault(error, this.#options.host);
    call.handler.onFault(fault === error ? fault : new UpstreamFault(fault.type, fault.message, { phase: 'connect', cause: error }));
  }

  #settle(): void {
    if (this.empty) this.#whenEmpty?.();
  }
}
