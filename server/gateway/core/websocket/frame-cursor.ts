/**
 * Where in the frames of one direction the bytes that passed by end (RFC 6455 §5.2). Nothing of a frame is kept or judged: it is known only where a frame
 * of ours could stand without cutting one in two.
 */
export class FrameCursor {
  /** Bytes of the head of a frame that have come; at most 14. */
  readonly #head = Buffer.alloc(14);
  #headBytes = 0;
  /** Bytes of its payload that are to come; of one too long for a number, nearly so many: it never ends. */
  #left = 0;

  /** Whether the last byte that passed was the last of a frame, or none came yet. */
  get atBoundary(): boolean {
    return this.#headBytes === 0 && this.#left === 0;
  }

  /** Passes bytes by. @returns how many of them end at the first boundary, -1 without one */
  pass(bytes: Buffer): number {
    let at = 0;
    let first = -1;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        at += taken;
      } else {
        this.#head[this.#headBytes++] = bytes[at++] as number;
        const length = this.#headBytes < 2 ? Number.POSITIVE_INFINITY : headLength(this.#head);
        if (this.#headBytes < length) continue;
        this.#left = payloadLength(this.#head);
        this.#headBytes = 0;
      }
      if (first < 0 && this.atBoundary) first = at;
    }
    return first;
  }
}

const EXTENDED: Readonly<Record<number, number>> = { 126: 2, 127: 8 };

function headLength(head: Buffer): number {
  const second = head[1] as number;
  return 2 + (EXTENDED[second & 0x7f] ?? 0) + (second & 0x80 ? 4 : 0);
}

function payloadLength(head: Buffer): number {
  const short = (head[1] as number) & 0x7f;
  if (short < 126) return short;
  return short === 126 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
}
