import type { Call } from './call.ts';
import { giveSlab, takeSlab } from './slabs.ts';

// What the upstream's bytes, which are lent for as long as they are told of, become on their way to the caller.

/** Up to here copying a body is cheaper than a second buffer in the write, and crumbs must not hold a slab each. */
const ONE_WRITE = 16 * 1024;

/** An answer that is put together before it is sent: a short one as text, one character a byte, a longer one in memory that is used again. */
export class HeldAnswer {
  readonly #slab: Buffer | undefined;
  #text = '';
  #bytes = 0;

  /** `length` is what the upstream announced, in bytes; no more than that is ever added. */
  constructor(length: number) {
    if (length > ONE_WRITE) this.#slab = takeSlab(length);
  }

  get isShort(): boolean {
    return this.#slab === undefined;
  }

  add(bytes: Buffer): void {
    if (this.#slab) this.#slab.set(bytes, this.#bytes);
    else this.#text += bytes.toString('latin1');
    this.#bytes += bytes.length;
  }

  /** Ends the caller's response, whose head was written. As text of the same bytes a short body goes out in one write with the head. */
  send(call: Call): void {
    const slab = this.#slab;
    if (!slab) call.res.end(this.#text, 'latin1');
    else call.res.end(slab.subarray(0, this.#bytes), () => returnSlab(slab, call));
  }
}

/** Sends a copy of lent bytes on; false: the caller takes no more at present. */
export function writeLent(call: Call, bytes: Buffer): boolean {
  if (bytes.length <= ONE_WRITE) return call.res.write(Buffer.from(bytes));
  const slab = takeSlab(bytes.length);
  const copy = slab.subarray(0, bytes.length);
  copy.set(bytes);
  return call.res.write(copy, (error) => {
    if (!error) returnSlab(slab, call);
  });
}

/** The socket has taken everything: nobody reads these bytes any more. */
function returnSlab(slab: Buffer, { req }: Call): void {
  if (!req.socket.destroyed) giveSlab(slab);
}
