/** Up to here bytes are collected in pieces; longer bodies get memory that grows in place. */
const PIECES = 64 * 1024;

/** A body that is collected whole and never held twice: its memory grows without being copied. */
export class CollectedBody {
  readonly #most: number;
  #pieces: Buffer[] = [];
  #grown: Uint8Array | undefined;
  bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a copy. The caller has seen to it that there are no more than the most. */
  add(bytes: Buffer): void {
    const at = this.bytes;
    this.bytes += bytes.length;
    if (this.#grown === undefined && this.bytes <= PIECES) {
      this.#pieces.push(Buffer.from(bytes));
      return;
    }
    const memory = this.#grown ?? this.#grow();
    const { buffer } = memory;
    if (buffer.byteLength < this.bytes) (buffer as ArrayBuffer).resize(Math.min(this.#most, Math.max(this.bytes, buffer.byteLength * 2)));
    memory.set(bytes, at);
  }

  take(): Buffer {
    const memory = this.#grown;
    this.#grown = undefined;
    if (memory !== undefined) return Buffer.from(memory.buffer, 0, this.bytes);
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  #grow(): Uint8Array {
    const buffer = new ArrayBuffer(2 * PIECES, { maxByteLength: Math.max(this.#most, 2 * PIECES) });
    const memory = new Uint8Array(buffer); // follows the length of its buffer
    let at = 0;
    for (const piece of this.#pieces) {
      memory.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [];
    this.#grown = memory;
    return memory;
  }
}
