import type { Duplex } from 'node:stream';
import { MessageReader, NO_CODE, serverFrame } from './message-reader.ts';

export type MessageSocketOptions = {
  /** Bytes of a message of the client. */
  readonly mostBytes: number;
  onMessage(text: string): void;
  /** Called once, when the connection is closed, whoever closed it. */
  onClosed(): void;
};

/** What waits for a client that reads nothing; beyond, it is hung up on. */
const MOST_UNREAD = 1_048_576;
/** How long the client's close frame, and then its end, are waited for. */
const CLOSING_MS = 1_000;

/**
 * Our end of a WebSocket that ends here: whole messages of text in, text out. A client that breaks the protocol is closed with the code of its fault. Idle it
 * has no timer and no buffer.
 */
export class MessageSocket {
  readonly #socket: Duplex;
  readonly #reader: MessageReader;
  readonly #options: MessageSocketOptions;
  #closing = false;
  /** When the client was last heard, by performance.now(). */
  heardAt = performance.now();

  /** @param socket on which the answer to the handshake was written */
  constructor(socket: Duplex, options: MessageSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#reader = new MessageReader(options.mostBytes);
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.once('end', () => socket.end());
    socket.once('close', () => options.onClosed());
    socket.pause();
  }

  /** Begins to read. @param first what came behind the handshake */
  start(first: Buffer): void {
    this.#socket.resume();
    if (first.length > 0) this.#read(first);
  }

  get closing(): boolean {
    return this.#closing || this.#socket.destroyed;
  }

  send(text: string): void {
    if (!this.closing) this.#write(serverFrame('text', Buffer.from(text)));
  }

  /** Asks a silent client for a sign of life, and keeps what stands between from taking the connection for dead. */
  ping(): void {
    if (!this.closing) this.#write(serverFrame('ping', Buffer.alloc(0)));
  }

  /** Reads nothing until `resume`. */
  pause(): void {
    if (!this.closing) this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes with a code and a reason of at most 123 bytes. What still comes is read off, so that the frame isn't lost in a reset. */
  close(code: number, reason = ''): void {
    if (this.closing) return;
    this.#closing = true;
    const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
    payload.writeUInt16BE(code);
    payload.write(reason, 2);
    this.#socket.end(serverFrame('close', payload));
    this.#socket.resume();
    setTimeout(() => this.#socket.destroy(), CLOSING_MS).unref();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    this.heardAt = performance.now();
    if (this.#closing) return;
    let ping: Buffer | undefined;
    for (const one of this.#reader.push(bytes)) {
      if (this.#closing) return;
      if (one.kind === 'text') this.#options.onMessage(one.text);
      else if (one.kind === 'ping') ping = one.payload;
      else if (one.kind === 'fault') this.close(one.code, one.message);
      else if (one.kind === 'close') this.close(one.code === NO_CODE ? 1000 : one.code);
    }
    // Of several that came together the last one is answered (RFC 6455 §5.5.3).
    if (ping && !this.#closing) this.#write(serverFrame('pong', ping));
  }

  #write(frame: Buffer): void {
    if (this.#socket.writableLength > MOST_UNREAD) this.#socket.destroy();
    else this.#socket.write(frame);
  }
}
