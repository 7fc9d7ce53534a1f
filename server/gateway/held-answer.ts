import type { UpstreamCall } from '#server/platform/http-out/upstream-call.ts';
import { giveSlab, takeSlab } from '#server/platform/slabs.ts';
import type { Call } from './call.ts';

// What the upstream's bytes, which are lent for as long as they are told of, become on their way to the caller.

/** Up to here copying a body is cheaper than a second buffer in the write, and crumbs must not hold a slab each. */
const ONE_WRITE = 16 * 1024;

/** Bytes that nobody overwrites, and the slab they are in. */
type Own = { bytes: Buffer; slab: Buffer };

/** An answer that is put together before it is sent: a short one as text, one character a byte, a longer one in memory that is used again. */
export class HeldAnswer {
  readonly #length: number;
  #own: Own | undefined;
  #text = '';
  #added = 0;

  /** `length` is what the upstream announced, in bytes; no more than that is ever added. */
  constructor(length: number) {
    this.#length = length;
  }

  add(bytes: Buffer, from: UpstreamCall | undefined): void {
    if (this.#length <= ONE_WRITE) this.#text += bytes.toString('latin1');
    else if (bytes.length === this.#length) this.#own = ownOf(bytes, from);
    else {
      this.#own ??= room(this.#length);
      this.#own.bytes.set(bytes, this.#added);
    }
    this.#added += bytes.length;
  }

  /** Ends the caller's response, whose head was written. As text of the same bytes a short body goes out in one write with the head. */
  send(call: Call): void {
    const own = this.#own;
    if (!own) call.res.end(this.#text, 'latin1');
    else call.res.end(own.bytes.subarray(0, this.#added), () => returnSlab(own.slab, call));
  }
}

/** Sends lent bytes on; false: the caller takes no more at present. */
export function writeLent(call: Call, bytes: Buffer, from: UpstreamCall | undefined): boolean {
  if (bytes.length <= ONE_WRITE) return call.res.write(Buffer.from(bytes));
  const own = ownOf(bytes, from);
  return call.res.write(own.bytes, (error) => {
    if (!error) returnSlab(own.slab, call);
  });
}

/** The bytes where they are when the connection can spare that memory, else a copy. */
function ownOf(bytes: Buffer, from: UpstreamCall | undefined): Own {
  const slab = from?.keep();
  if (slab) return { bytes, slab };
  const own = room(bytes.length);
  own.bytes.set(bytes);
  return own;
}

function room(length: number): Own {
  const slab = takeSlab(length);
  return { bytes: slab.subarray(0, length), slab };
}

/** The socket has taken everything: nobody reads these bytes any more. */
function returnSlab(slab: Buffer, { req }: Call): void {
  if (!req.socket.destroyed) giveSlab(slab);
}
