import { Duplex } from 'node:stream';

// Many streams over one connection (the tunnel of on-host agents): frames of `type u8 | stream u32 | length u32 | payload`, big-endian, payloads of at most 64 KiB.

const FRAME = { open: 1, opened: 2, refused: 3, data: 4, end: 5, reset: 6, ping: 7, pong: 8, window: 9 } as const;
const HEAD = 9;
const MOST = 65_536;
/** What one side may send of a stream before the other has taken it. */
const WINDOW = 1024 * 1024;
const MOST_STREAMS = 64;
const BEAT_MS = 20_000;

export type Target = { host: string; port: number };

/** A stream could not be opened; `code` is the other side's word for it. */
export class TunnelRefused extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`the tunnel refused the connection: ${code}`);
    this.code = code;
  }
}

/** One end. `decide` is asked on the side that is called: it resolves to the connection that a stream is joined with, or rejects with a code as its message. */
export class Multiplexer {
  readonly #socket: Duplex;
  readonly #decide: ((target: Target) => Promise<Duplex>) | undefined;
  readonly #streams = new Map<number, MuxStream>();
  readonly #opening = new Map<number, { resolve: (stream: Duplex) => void; reject: (error: Error) => void }>();
  readonly #beat: NodeJS.Timeout;
  #rest: Buffer = Buffer.alloc(0);
  #next = 1;
  #heard = Date.now();
  /** Resolves when the connection is over. */
  readonly ended: Promise<void>;

  constructor(socket: Duplex, decide?: (target: Target) => Promise<Duplex>) {
    this.#socket = socket;
    this.#decide = decide;
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    this.ended = new Promise((resolve) => socket.once('close', () => resolve(this.#over())));
    this.#beat = setInterval(() => this.#beats(), BEAT_MS);
    this.#beat.unref();
  }

  /** A connection to a host as the other side reaches it. @throws TunnelRefused */
  open(target: Target, patienceMs: number): Promise<Duplex> {
    if (this.#socket.destroyed) return Promise.reject(new TunnelRefused('closed'));
    if (this.#streams.size + this.#opening.size >= MOST_STREAMS) return Promise.reject(new TunnelRefused('too_many_streams'));
    const id = this.#next++;
    return new Promise<Duplex>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#opening.delete(id);
        this.send(FRAME.reset, id);
        reject(new TunnelRefused('timeout'));
      }, patienceMs);
      const settled =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer);
          then(value);
        };
      this.#opening.set(id, { resolve: settled(resolve), reject: settled(reject) });
      this.send(FRAME.open, id, Buffer.from(JSON.stringify(target)));
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  send(type: number, id: number, payload: Uint8Array = EMPTY): void {
    if (this.#socket.destroyed) return;
    const head = Buffer.allocUnsafe(HEAD);
    head.writeUInt8(type, 0);
    head.writeUInt32BE(id, 1);
    head.writeUInt32BE(payload.byteLength, 5);
    this.#socket.write(head);
    if (payload.byteLength > 0) this.#socket.write(payload);
  }

  forget(id: number): void {
    this.#streams.delete(id);
  }

  #take(bytes: Buffer): void {
    this.#heard = Date.now();
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= HEAD) {
      const [type, id, length] = [this.#rest.readUInt8(0), this.#rest.readUInt32BE(1), this.#rest.readUInt32BE(5)];
      if (length > MOST) {
        this.close();
        return;
      }
      if (this.#rest.length < HEAD + length) return;
      // A copy: what is read into is lent.
      const payload = Buffer.from(this.#rest.subarray(HEAD, HEAD + length));
      this.#rest = this.#rest.subarray(HEAD + length);
      this.#frame(type, id, payload);
    }
    this.#rest = Buffer.from(this.#rest);
  }

  #frame(type: number, id: number, payload: Buffer): void {
    if (type === FRAME.open) void this.#called(id, payload);
    else if (type === FRAME.opened) this.#opened(id);
    else if (type === FRAME.refused) this.#refused(id, payload.toString());
    else if (type === FRAME.data) this.#streams.get(id)?.received(payload);
    else if (type === FRAME.end) this.#streams.get(id)?.finished();
    else if (type === FRAME.reset) this.#streams.get(id)?.destroy();
    else if (type === FRAME.ping) this.send(FRAME.pong, 0);
    else if (type === FRAME.window && payload.length === 4) this.#streams.get(id)?.granted(payload.readUInt32BE(0));
    else if (type !== FRAME.pong) this.close();
  }

  #opened(id: number): void {
    const waiting = this.#opening.get(id);
    this.#opening.delete(id);
    if (waiting) waiting.resolve(this.#stream(id));
    else this.send(FRAME.reset, id);
  }

  #refused(id: number, code: string): void {
    this.#opening.get(id)?.reject(new TunnelRefused(WORD.test(code) ? code : 'refused'));
    this.#opening.delete(id);
  }

  async #called(id: number, payload: Buffer): Promise<void> {
    if (!this.#decide || this.#streams.has(id)) {
      this.close();
      return;
    }
    const stream = this.#stream(id);
    try {
      if (this.#streams.size > MOST_STREAMS) throw new Error('too_many_streams');
      const connection = await this.#decide(targetOf(payload));
      this.send(FRAME.opened, id);
      joined(stream, connection);
    } catch (error) {
      this.forget(id);
      this.send(FRAME.refused, id, Buffer.from(error instanceof Error && WORD.test(error.message) ? error.message : 'refused'));
    }
  }

  #stream(id: number): MuxStream {
    const stream = new MuxStream(this, id);
    this.#streams.set(id, stream);
    return stream;
  }

  #beats(): void {
    if (Date.now() - this.#heard > 3 * BEAT_MS) this.close();
    else this.send(FRAME.ping, 0);
  }

  #over(): void {
    clearInterval(this.#beat);
    for (const stream of this.#streams.values()) stream.destroy();
    for (const { reject } of this.#opening.values()) reject(new TunnelRefused('closed'));
    this.#streams.clear();
    this.#opening.clear();
  }
}

/** Pipes two connections into each other; when one breaks, so does the other. */
export function joined(a: Duplex, b: Duplex): void {
  a.pipe(b).pipe(a);
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}

const EMPTY = new Uint8Array();
const WORD = /^[a-z_]{1,40}$/;

function targetOf(payload: Buffer): Target {
  const { host, port } = JSON.parse(payload.toString()) as Partial<Target>;
  if (typeof host !== 'string' || host.length < 1 || host.length > 253 || !Number.isInteger(port) || !port || port < 1 || port > 65_535)
    throw new Error('bad_target');
  return { host, port };
}

/** One stream with its own window in each direction: a slow one holds up no other. */
class MuxStream extends Duplex {
  readonly #mux: Multiplexer;
  readonly #id: number;
  #credit = WINDOW;
  #waiting: { bytes: Buffer; done: (error?: Error | null) => void } | undefined;
  /** Received and not granted anew. */
  #owed = 0;
  #ended = false;
  #finished = false;

  constructor(mux: Multiplexer, id: number) {
    super({ allowHalfOpen: true });
    this.#mux = mux;
    this.#id = id;
    this.on('error', () => {});
  }

  received(bytes: Buffer): void {
    if (this.#owed + bytes.length > WINDOW || this.#ended) {
      this.destroy();
      return;
    }
    this.#owed += bytes.length;
    if (this.push(bytes)) this.#grant();
  }

  finished(): void {
    this.#ended = true;
    this.push(null);
  }

  granted(bytes: number): void {
    this.#credit = Math.min(WINDOW, this.#credit + bytes);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) this.#send(waiting.bytes, waiting.done);
  }

  override _read(): void {
    this.#grant();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#finished = true;
    this.#mux.send(FRAME.end, this.#id);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#mux.forget(this.#id);
    if (!this.#ended || !this.#finished) this.#mux.send(FRAME.reset, this.#id);
    this.#waiting?.done(new Error('the tunnel was closed'));
    this.#waiting = undefined;
    done(error);
  }

  #send(bytes: Buffer, done: (error?: Error | null) => void): void {
    let rest = bytes;
    while (rest.length > 0 && this.#credit > 0) {
      const part = rest.subarray(0, Math.min(rest.length, MOST, this.#credit));
      this.#credit -= part.length;
      this.#mux.send(FRAME.data, this.#id, part);
      rest = rest.subarray(part.length);
    }
    if (rest.length === 0) done();
    else this.#waiting = { bytes: rest, done };
  }

  #grant(): void {
    if (this.#owed === 0) return;
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32BE(this.#owed, 0);
    this.#owed = 0;
    this.#mux.send(FRAME.window, this.#id, payload);
  }
}
