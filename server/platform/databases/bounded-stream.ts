import { Duplex } from 'node:stream';
import { contained } from './contained.ts';

/** What a server may send in one piece of work: no answer that we ask for comes near it. */
const MOST_BYTES = 4 * 1024 * 1024;

export class TooMuch extends Error {
  constructor() {
    super('The server sent more than was asked for.');
    this.name = 'TooMuch';
  }
}

/**
 * A socket, or a channel of SSH, as the drivers want it, connected already. It counts what it reads: drivers collect a message until its end, and the
 * length of a message is what the server says.
 */
export class BoundedStream extends Duplex {
  readonly #source: Duplex;
  readonly #most: number;
  #left: number;

  constructor(source: Duplex, most = MOST_BYTES) {
    super({ allowHalfOpen: false, autoDestroy: true });
    contained(this);
    this.#most = most;
    this.#left = most;
    this.#source = source;
    source.on('data', (chunk: Buffer) => {
      this.#left -= chunk.length;
      if (this.#left < 0) this.destroy(new TooMuch());
      else if (!this.push(chunk)) source.pause();
    });
    source.on('end', () => this.push(null));
    source.on('error', (error) => this.destroy(error));
    source.on('close', () => this.destroy());
    source.pause();
    // A stream without a listener for its errors would end the process when the driver has let go of it.
    this.on('error', () => undefined);
  }

  /** Another piece of work begins. */
  refill(): void {
    this.#left = this.#most;
  }

  override _read(): void {
    this.#source.resume();
  }
  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#source.write(chunk, encoding, done);
  }
  override _final(done: (error?: Error | null) => void): void {
    this.#source.end(() => done());
  }
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#source.destroy();
    done(error);
  }

  // What drivers ask of a socket. It is connected when they get it.
  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}
