import type { Duplex } from 'node:stream';
import { randomBuffer } from '#server/crypto/random.ts';
import { FrameCursor } from './frame-cursor.ts';

export type TunnelEnd = 'closed' | 'idle' | 'age' | 'revoked' | 'shutdown';
export type TunnelLimits = { readonly idleMs: number; readonly totalMs: number; readonly graceMs: number; readonly lingerMs: number };

/**
 * Interface rule 12 §11. `graceMs`: how long a frame that is under way is waited for once the tunnel has to end. `lingerMs`: after one end hung up, how long
 * the other may neither take nor send anything.
 */
export const LIMITS: TunnelLimits = { idleMs: 300_000, totalMs: 24 * 3_600_000, graceMs: 1_000, lingerMs: 10_000 };

const GOING_AWAY = 1001;

type Side = {
  readonly from: Duplex;
  readonly to: Duplex;
  readonly frames: FrameCursor;
  readonly masks: boolean;
  bytes: number;
  over: boolean;
};

/**
 * Two sockets that changed to WebSocket: bytes go across as they come, with back-pressure, and are counted. It ends when either end hangs up, when nothing
 * passed for five minutes, after a day, or when it is told to; then both ends get a close frame of 1001, between two frames and never inside one.
 */
export class Tunnel {
  readonly #up: Side;
  readonly #down: Side;
  readonly #limits: TunnelLimits;
  readonly #ended: (why: TunnelEnd) => void;
  readonly #idle: NodeJS.Timeout;
  readonly #total: NodeJS.Timeout;
  #late: NodeJS.Timeout | undefined;
  #linger: NodeJS.Timeout | undefined;
  /** The end that hasn't hung up yet. */
  #left: Duplex | undefined;
  #why: TunnelEnd | undefined;
  #open = 2;

  /** @param ended called once, when both sockets are closed */
  constructor(caller: Duplex, upstream: Duplex, ended: (why: TunnelEnd) => void, limits = LIMITS) {
    this.#up = { from: caller, to: upstream, frames: new FrameCursor(), masks: true, bytes: 0, over: false };
    this.#down = { from: upstream, to: caller, frames: new FrameCursor(), masks: false, bytes: 0, over: false };
    this.#ended = ended;
    this.#limits = limits;
    this.#idle = setTimeout(() => this.end('idle'), limits.idleMs);
    this.#total = setTimeout(() => this.end('age'), limits.totalMs);
    for (const side of [this.#up, this.#down]) this.#carry(side);
  }

  /** Bytes from the caller, and from the upstream. */
  get bytes(): { up: number; down: number } {
    return { up: this.#up.bytes, down: this.#down.bytes };
  }

  /** What each end sent before there was a tunnel. */
  start(fromCaller: Buffer, fromUpstream: Buffer): void {
    if (fromCaller.length > 0) this.#pass(this.#up, fromCaller);
    if (fromUpstream.length > 0) this.#pass(this.#down, fromUpstream);
    this.#up.from.resume();
    this.#down.from.resume();
  }

  end(why: TunnelEnd): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    for (const side of [this.#up, this.#down]) if (side.frames.atBoundary) this.#close(side);
    this.#late = setTimeout(() => {
      this.#up.from.destroy();
      this.#down.from.destroy();
    }, this.#limits.graceMs);
  }

  #carry(side: Side): void {
    const { from, to } = side;
    from.on('data', (bytes: Buffer) => this.#pass(side, bytes));
    to.on('drain', () => from.resume());
    to.once('finish', () => this.#renewLinger());
    // Which of the two failed, and by what, is nobody's business here: 'close' follows.
    from.on('error', () => undefined);
    from.once('end', () => {
      side.over = true;
      to.end();
    });
    from.once('close', () => this.#closed(side));
  }

  #pass(side: Side, bytes: Buffer): void {
    this.#renewLinger();
    if (side.over) return;
    const boundary = side.frames.pass(bytes);
    const last = this.#why !== undefined && boundary >= 0 ? bytes.subarray(0, boundary) : bytes;
    side.bytes += last.length;
    this.#idle.refresh();
    if (!side.to.writable) return;
    if (!side.to.write(last)) side.from.pause();
    if (this.#why !== undefined && boundary >= 0) this.#close(side);
  }

  /** Nothing more goes this way; the other end hears why. */
  #close(side: Side): void {
    if (side.over) return;
    side.over = true;
    if (side.to.writable) side.to.end(closeFrame(GOING_AWAY, side.masks));
    // Bytes that still come are read off, so that our last ones aren't lost in a reset.
    side.from.resume();
  }

  #closed(side: Side): void {
    side.over = true;
    this.#open--;
    if (this.#open > 0) {
      this.#left = side.to;
      if (side.to.writable) side.to.end();
      // What it still sends is read off: bytes that nobody read would turn our last ones into a reset.
      side.to.resume();
      this.#renewLinger();
      return;
    }
    for (const timer of [this.#idle, this.#total, this.#late, this.#linger]) clearTimeout(timer);
    this.#ended(this.#why ?? 'closed');
  }

  #renewLinger(): void {
    if (this.#left === undefined) return;
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => this.#left?.destroy(), this.#limits.lingerMs);
  }
}

/** RFC 6455 §5.5.1; what goes to a server is masked (§5.3). */
export function closeFrame(code: number, masks: boolean): Buffer {
  const payload = Buffer.from([code >> 8, code & 0xff]);
  if (!masks) return Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
  const mask = randomBuffer(4);
  const masked = payload.map((byte, i) => byte ^ (mask[i] as number));
  return Buffer.concat([Buffer.from([0x88, 0x80 | payload.length]), mask, masked]);
}
