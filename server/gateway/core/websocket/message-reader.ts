/** What a client sent: a whole message, or a control frame. */
export type Incoming =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'ping'; readonly payload: Buffer }
  | { readonly kind: 'pong' }
  | { readonly kind: 'close'; readonly code: number }
  /** The client broke the protocol or a limit: `code` is what the connection closes with (RFC 6455 §7.4.1). Nothing more can be read. */
  | { readonly kind: 'fault'; readonly code: number; readonly message: string };

class ProtocolFault extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const PROTOCOL_ERROR = 1002;
const UNSUPPORTED_DATA = 1003;
const INVALID_TEXT = 1007;
const TOO_BIG = 1009;
/** A close frame without a code (RFC 6455 §7.1.5). */
export const NO_CODE = 1005;

const CONTINUATION = 0;
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

const FIRST_BYTES = 1_024;
const LONGEST_CONTROL = 125;

type Frame = { opcode: number; final: boolean; left: number; mask: Buffer; at: number };

/**
 * Reads messages of text from the frames of a client (RFC 6455 §5), without extensions. Memory is taken as bytes arrive, never because a length was announced, and
 * given back with each message.
 */
export class MessageReader {
  readonly #most: number;
  readonly #head = Buffer.alloc(14);
  #headBytes = 0;
  #frame: Frame | null = null;
  #message = new Gathered();
  #control = new Gathered();
  /** A message was begun and its last frame hasn't come. */
  #begun = false;

  /** @param most bytes of a message */
  constructor(most: number) {
    this.#most = most;
  }

  /** What these bytes complete, in order. */
  push(bytes: Buffer): Incoming[] {
    const out: Incoming[] = [];
    try {
      this.#read(bytes, out);
    } catch (error) {
      if (!(error instanceof ProtocolFault)) throw error;
      out.push({ kind: 'fault', code: error.code, message: error.message });
    }
    return out;
  }

  #read(bytes: Buffer, out: Incoming[]): void {
    let at = 0;
    while (at < bytes.length || this.#frame?.left === 0) {
      if (this.#frame === null) {
        this.#head[this.#headBytes++] = bytes[at++] as number;
        this.#frame = this.#begin();
        continue;
      }
      const frame: Frame = this.#frame;
      const taken = Math.min(frame.left, bytes.length - at);
      this.#into(frame).take(bytes.subarray(at, at + taken), frame);
      at += taken;
      frame.left -= taken;
      if (frame.left > 0) break;
      this.#frame = null;
      const whole = this.#end(frame);
      if (whole) out.push(whole);
    }
  }

  #into = ({ opcode }: Frame): Gathered => (opcode >= CLOSE ? this.#control : this.#message);

  /** The frame whose head is complete. */
  #begin(): Frame | null {
    const head = this.#head;
    if (this.#headBytes < 2) return null;
    const [first, second] = [head[0] as number, head[1] as number];
    const short = second & 0x7f;
    const begin = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0);
    // Judged as soon as it is known, before more is waited for.
    const opcode = first & 0x0f;
    const final = (first & 0x80) !== 0;
    if ((first & 0x70) !== 0) throw new ProtocolFault(PROTOCOL_ERROR, 'no extension was agreed on');
    if ((second & 0x80) === 0) throw new ProtocolFault(PROTOCOL_ERROR, 'frames of clients are masked');
    if (opcode >= CLOSE) {
      if (opcode > PONG) throw new ProtocolFault(PROTOCOL_ERROR, 'unknown opcode');
      if (!final || short > LONGEST_CONTROL) throw new ProtocolFault(PROTOCOL_ERROR, 'a control frame is whole and short');
    } else if (opcode === 2) throw new ProtocolFault(UNSUPPORTED_DATA, 'only text is taken');
    else if (opcode > 2) throw new ProtocolFault(PROTOCOL_ERROR, 'unknown opcode');
    else if ((opcode === CONTINUATION) !== this.#begun) throw new ProtocolFault(PROTOCOL_ERROR, 'a frame out of its message');
    if (this.#headBytes < begin + 4) return null;
    const left = short === 126 ? head.readUInt16BE(2) : short === 127 ? Number(head.readBigUInt64BE(2)) : short;
    if (opcode < CLOSE && this.#message.length + left > this.#most) throw new ProtocolFault(TOO_BIG, 'the message is too large');
    if (opcode < CLOSE) this.#begun = true;
    this.#headBytes = 0;
    return { opcode, final, left, mask: Buffer.from(head.subarray(begin, begin + 4)), at: 0 };
  }

  #end({ opcode, final }: Frame): Incoming | undefined {
    if (opcode === PONG || opcode === PING) {
      const payload = this.#control.whole();
      return opcode === PONG ? { kind: 'pong' } : { kind: 'ping', payload };
    }
    if (opcode === CLOSE) return { kind: 'close', code: closeCode(this.#control.whole()) };
    if (!final) return undefined;
    this.#begun = false;
    return { kind: 'text', text: textOf(this.#message.whole()) };
  }
}

/** Bytes that were unmasked, in one buffer that grows. */
class Gathered {
  #bytes = EMPTY;
  length = 0;

  take(part: Buffer, frame: Frame): void {
    const needed = this.length + part.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2, FIRST_BYTES));
      this.#bytes.copy(larger, 0, 0, this.length);
      this.#bytes = larger;
    }
    for (let i = 0; i < part.length; i++) this.#bytes[this.length++] = (part[i] as number) ^ (frame.mask[frame.at++ & 3] as number);
  }

  whole(): Buffer {
    const bytes = this.#bytes.subarray(0, this.length);
    this.#bytes = EMPTY;
    this.length = 0;
    return bytes;
  }
}
const EMPTY = Buffer.alloc(0);

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
function textOf(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new ProtocolFault(INVALID_TEXT, 'text is UTF-8');
  }
}

/** RFC 6455 §7.4. */
function closeCode(payload: Buffer): number {
  if (payload.length === 0) return NO_CODE;
  const code = payload.length === 1 ? 0 : payload.readUInt16BE(0);
  const known = (code >= 1000 && code <= 1014 && code !== 1004 && code !== NO_CODE && code !== 1006) || (code >= 3000 && code <= 4999);
  if (!known) throw new ProtocolFault(PROTOCOL_ERROR, 'not a code of a close frame');
  textOf(payload.subarray(2));
  return code;
}

/** A frame of a server, which is not masked. */
export function serverFrame(opcode: 'text' | 'close' | 'ping' | 'pong', payload: Buffer): Buffer {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + extended);
  head[0] = 0x80 | { text: TEXT, close: CLOSE, ping: PING, pong: PONG }[opcode];
  head[1] = extended === 0 ? length : extended === 2 ? 126 : 127;
  if (extended === 2) head.writeUInt16BE(length, 2);
  if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
