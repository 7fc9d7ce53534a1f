const MIB = 1024 * 1024;
/** From here on the bytes are in memory that threads can read too. */
const SHARED_FROM = MIB / 16;

/**
 * The body of an answer as it comes. A long one is copied piece by piece into memory that grows by doubling, so that no turn of the loop puts all of it
 * together, and threads share that memory instead of having it copied.
 */
export class CollectedAnswer {
  #pieces: Buffer[] = [];
  #shared: Buffer = Buffer.alloc(0);
  length = 0;

  /** The piece is lent: it is copied. */
  add(piece: Buffer): void {
    const from = this.length;
    this.length += piece.length;
    if (this.length <= SHARED_FROM) {
      this.#pieces.push(Buffer.from(piece));
      return;
    }
    if (this.length > this.#shared.length) this.#grow(from);
    piece.copy(this.#shared, from);
  }

  whole(): Buffer {
    const [first] = this.#pieces;
    if (this.length > SHARED_FROM) return this.#shared.subarray(0, this.length);
    return first && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces, this.length);
  }

  #grow(held: number): void {
    const larger = Buffer.from(new SharedArrayBuffer(Math.max(MIB / 4, 2 * this.length)));
    if (this.#pieces.length > 0) Buffer.concat(this.#pieces, held).copy(larger);
    else this.#shared.copy(larger, 0, 0, held);
    this.#pieces = [];
    this.#shared = larger;
  }
}
