import { giveSlab, takeSlab } from '../slabs.ts';

/** Of one read, at most. */
export const READ_BYTES = 128 * 1024;
/**
 * What unencrypted sockets read into, all of them: one read is dealt with before the next, and a buffer of its own for each would be taken and
 * thrown away a hundred thousand times a second.
 */
const OF_ALL = Buffer.allocUnsafeSlow(READ_BYTES);

/** Connections that have memory of their own at a time: eight megabytes. */
const MOST_OWN = 64;
let own = 0;
/** So many short answers after a long one a connection is back at the memory of all. */
const PATIENCE = 8;

/**
 * The memory one connection reads into. While long answers come that is memory of its own: who passes them on keeps it and need not copy them.
 * A socket reads into what `next` said last, so `take` is for who was just told of a read, before `next` is asked again.
 */
export class ReadMemory {
  #own: Buffer | undefined;
  #patience = 0;

  /** A long piece of an answer came; more may. */
  sawLong(): void {
    this.#patience = PATIENCE;
  }

  answerEnded(): void {
    if (this.#patience > 0) this.#patience--;
  }

  /** What the next read goes into. */
  next(): Buffer {
    if (this.#patience === 0) this.release();
    else if (this.#own === undefined && own < MOST_OWN) {
      own++;
      this.#own = takeSlab(READ_BYTES);
    }
    return this.#own ?? OF_ALL;
  }

  /** The memory of the last read, for good; undefined: it is that of all, and what is in it must be copied. */
  take(): Buffer | undefined {
    const taken = this.#own;
    if (taken) own--;
    this.#own = undefined;
    return taken;
  }

  /** Nothing reads into it any more. */
  release(): void {
    const left = this.take();
    if (left) giveSlab(left);
  }
}

/** Who takes what a socket reads. The bytes are lent: a later read, of any socket, overwrites them. */
export type Reader = { received(bytes: Buffer): void; memory(): Buffer };

/** The `onread` option of `net.connect` for a reader. */
export function readInto(reader: Reader) {
  let given: Buffer | undefined;
  return {
    /** Asked before the first read and after every one; undefined: the same again. */
    buffer(): Buffer {
      const next = reader.memory();
      if (next === given) return undefined as unknown as Buffer;
      given = next;
      return next;
    },
    callback(bytes: number, buffer: Uint8Array): boolean {
      reader.received((buffer as Buffer).subarray(0, bytes));
      return true;
    },
  };
}
