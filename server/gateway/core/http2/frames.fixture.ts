// Frames of HTTP/2 by hand (RFC 9113 §4.1), for peers that no library would be.

export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
export const DATA = 0;
export const HEADERS = 1;
export const PRIORITY = 2;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PUSH_PROMISE = 5;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const CONTINUATION = 9;
export const END_STREAM = 1;
export const ACK = 1;
export const END_HEADERS = 4;
export const PADDED = 8;

export function frame(type: number, flags: number, stream: number, payload: Buffer | readonly number[] = []): Buffer {
  const bytes = Buffer.from(payload);
  const head = Buffer.alloc(9);
  head.writeUIntBE(bytes.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, bytes]);
}

/** Fields as literals that are put into no table (RFC 7541 §6.2.2); of up to 16 KB each. */
export const fields = (list: readonly (readonly [string, string])[]): Buffer =>
  Buffer.concat(list.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const rest = bytes.length - 127;
  return Buffer.concat([Buffer.from(rest < 128 ? [127, rest] : [127, (rest & 127) | 128, rest >> 7]), bytes]);
}

export type Frame = { type: number; flags: number; stream: number; payload: Buffer };

/** The whole frames in what came, and where the first that isn't whole begins. */
export function framesOf(bytes: Buffer): { frames: Frame[]; end: number } {
  const frames: Frame[] = [];
  let at = 0;
  while (bytes.length - at >= 9) {
    const length = bytes.readUIntBE(at, 3);
    if (bytes.length - at < 9 + length) break;
    const [type = 0, flags = 0] = bytes.subarray(at + 3, at + 5);
    frames.push({ type, flags, stream: bytes.readUInt32BE(at + 5) & 0x7fffffff, payload: bytes.subarray(at + 9, at + 9 + length) });
    at += 9 + length;
  }
  return { frames, end: at };
}
