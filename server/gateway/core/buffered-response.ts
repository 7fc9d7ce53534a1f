import { giveBuffer, takeBuffer } from './buffer-pool.ts';
import type { Call } from './call.ts';

// The upstream's bytes are lent for the length of a callback: they are copied here on their way to the caller.

/** Up to this size, copying a body costs less than a second buffer in the write. */
const ONE_WRITE = 16 * 1024;

/** A response that is collected before it is sent: a short one as text, one character per byte, a longer one in a pooled buffer. */
export class BufferedResponse {
  readonly #pooled: Buffer | undefined;
  #text = '';
  #bytes = 0;

  /** `length` is what the upstream announced, in bytes; no more than that is ever added. */
  constructor(length: number) {
    if (length > ONE_WRITE) this.#pooled = takeBuffer(length);
  }

  get isShort(): boolean {
    return this.#pooled === undefined;
  }

  add(bytes: Buffer): void {
    if (this.#pooled) this.#pooled.set(bytes, this.#bytes);
    else this.#text += bytes.toString('latin1');
    this.#bytes += bytes.length;
  }

  /** Ends the caller's response, whose head was written. As text of the same bytes a short body goes out in one write with the head. */
  send(call: Call): void {
    const pooled = this.#pooled;
    if (!pooled) call.res.end(this.#text, 'latin1');
    else call.res.end(pooled.subarray(0, this.#bytes), () => recycle(pooled, call));
  }
}

/** Sends a copy of lent bytes; the last ones go out with the end of the answer, which may be held. False: wait for `drain` before the next. */
export function writeCopy(call: Call, bytes: Buffer, last: boolean): boolean {
  if (last) {
    call.res.cork();
    writeCopy(call, bytes, false);
    return true;
  }
  if (bytes.length <= ONE_WRITE) return call.res.write(Buffer.from(bytes));
  const pooled = takeBuffer(bytes.length);
  const copy = pooled.subarray(0, bytes.length);
  copy.set(bytes);
  return call.res.write(copy, (error) => {
    if (!error) recycle(pooled, call);
  });
}

/** Called when the socket has taken everything. */
function recycle(pooled: Buffer, { req }: Call): void {
  if (!req.socket.destroyed) giveBuffer(pooled);
}
