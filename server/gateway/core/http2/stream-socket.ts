import { Duplex } from 'node:stream';

/**
 * One of two ends of a connection that no network carries: what is written to one is read from the other, with back-pressure. It has what node's HTTP server
 * asks of a socket besides: an address, an end that loses nothing, and a timeout for when nothing moves.
 */
export class StreamSocket extends Duplex {
  readonly remoteAddress: string;
  /** In milliseconds, 0 without one. */
  timeout = 0;
  #other: StreamSocket | undefined;
  #taken: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(remoteAddress: string) {
    super({ allowHalfOpen: true });
    this.remoteAddress = remoteAddress;
  }

  static pair(remoteAddress: string): [StreamSocket, StreamSocket] {
    const [one, other] = [new StreamSocket(remoteAddress), new StreamSocket(remoteAddress)];
    one.#other = other;
    other.#other = one;
    return [one, other];
  }

  /** `timeout` is emitted when nothing was read or written for so long; 0: never. */
  setTimeout(ms: number, then?: () => void): this {
    clearTimeout(this.#timer);
    this.timeout = ms;
    this.#timer = ms > 0 ? setTimeout(() => this.emit('timeout'), ms).unref() : undefined;
    if (then) this.once('timeout', then);
    return this;
  }

  /** Ends, and is destroyed when everything that was written is with the other end. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    this.#timer?.refresh();
    taken?.();
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#pass(bytes, done);
  }

  override _writev(parts: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#pass(Buffer.concat(parts.map(({ chunk }) => chunk)), done);
  }

  #pass(bytes: Buffer, done: () => void): void {
    const other = this.#other;
    const written = () => {
      this.#timer?.refresh();
      done();
    };
    // Nobody reads it any more, as after the end of a response that was answered early.
    if (!other || other.destroyed || other.push(bytes)) written();
    else other.#taken = written;
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#other && !this.#other.destroyed) this.#other.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    const other = this.#other;
    this.#other = undefined;
    const waiting = this.#taken;
    this.#taken = undefined;
    waiting?.();
    // An end that said all it had to say leaves the other what it hasn't read yet.
    if (other && !other.destroyed && !this.writableFinished) process.nextTick(() => other.destroy());
    done(error);
  }
}
