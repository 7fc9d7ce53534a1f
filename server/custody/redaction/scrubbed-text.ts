import { type Find, type Found, redactedMark } from './redaction.ts';

/** Bytes that are searched at once, besides those that were sent before and those that wait. */
const AT_ONCE = 64 * 1024;
/** So long a value is known by its first characters alone, however they are written: nothing longer needs to wait. */
const MOST_HELD = 4 * 1024;
const LEAST_HELD = 256;
const NOTHING = Buffer.alloc(0);

/**
 * A text that passes bit by bit and leaves without some values, also where one is split between two pieces: the end of what came waits, four times as long as
 * the longest value (interface rule 30 §7.4), and the end of what left is looked through again with what follows.
 */
export class ScrubbedText {
  readonly #find: Find;
  readonly #hold: number;
  /** As it came: what has left of it, then what waits. */
  #text: Buffer = NOTHING;
  #left = 0;
  /** Whether the last that left was a mark, which also stands for what continues the value. */
  #marked = false;
  /** Whether anything left otherwise than it came. */
  changed = false;

  /** `longest` is the length of the longest value, in bytes. */
  constructor(find: Find, longest: number) {
    this.#find = find;
    this.#hold = Math.min(MOST_HELD, Math.max(LEAST_HELD, 4 * longest));
  }

  /** What may leave after these bytes. Everything up to index `due` of them leaves, whether it could continue or not. Null: it can't be searched. */
  async push(bytes: Buffer, due = 0): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += AT_ONCE) {
      const piece = bytes.subarray(at, at + AT_ONCE);
      const part = await this.#take(piece, Math.min(piece.length, due - at));
      if (part === null) return null;
      if (part.length > 0) parts.push(part);
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  /** What waited. */
  end(): Promise<Buffer | null> {
    return this.#take(NOTHING, 0, true);
  }

  async #take(bytes: Buffer, due: number, isEnd = false): Promise<Buffer | null> {
    const before = this.#text.length;
    const text = before === 0 ? Buffer.from(bytes) : Buffer.concat([this.#text, bytes]);
    const found = await this.#find(text);
    if (found === null) return null;
    const until = isEnd ? text.length : Math.max(this.#left, text.length - this.#hold, due > 0 ? before + due : 0);
    const out = this.#release(text, found, until);
    const from = Math.max(0, this.#left - this.#hold);
    this.#text = text.subarray(from);
    this.#left -= from;
    return out;
  }

  /** Lets go of the text up to here, and to the end of a value that stands there. */
  #release(text: Buffer, found: readonly Found[], until: number): Buffer {
    const parts: Buffer[] = [];
    let at = this.#left;
    for (const { from, to, name } of found) {
      if (to <= at) continue;
      if (from >= until) break;
      if (from > at) {
        parts.push(text.subarray(at, from));
        this.#marked = false;
      }
      // What continues a value that was marked has its mark already.
      if (!(this.#marked && from < at)) parts.push(Buffer.from(redactedMark(name)));
      this.#marked = true;
      this.changed = true;
      at = to;
    }
    if (until > at) {
      parts.push(text.subarray(at, until));
      this.#marked = false;
      at = until;
    }
    this.#left = at;
    return Buffer.concat(parts);
  }
}
