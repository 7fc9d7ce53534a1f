import type { LineEdit } from './answer-edit.ts';
import { type Refused, refused } from './refusal.ts';

/** A line is held whole while it is changed; a longer one ends the stream. */
export const LONGEST_LINE = 1024 * 1024;
const NEWLINE = 0x0a;

/** Where changed lines go, and what is told of the way there. */
export type LineSink = {
  /** False: the next should wait for `drained`. */
  write(pieces: readonly Buffer[], shown: readonly Buffer[] | null): boolean;
  end(): void;
  fail(refusal: Refused): void;
  /** More bytes can be taken. */
  resume(): void;
  /** Declares how many bytes are held; false when there is no memory for them. */
  mayHold(bytes: number): boolean;
  /** What is wrong with a stream whose lines are too long, in the words of its direction. */
  tooLong: () => Refused;
};

/**
 * A stream of lines that are changed on their way, in their order, a few at a time. While lines are being changed, or the sink is full, no more are taken
 * than came already.
 */
export class LineStage {
  readonly #edit: LineEdit;
  readonly #sink: LineSink;
  #held: Buffer[] = [];
  #bytes = 0;
  /** Whether what is held has the end of a line. */
  #hasLine = false;
  #busy = false;
  #full = false;
  #ended = false;
  #over = false;

  constructor(edit: LineEdit, sink: LineSink) {
    this.#edit = edit;
    this.#sink = sink;
  }

  /** Takes a copy of the bytes. False: wait for `resume`. */
  push(bytes: Buffer): boolean {
    if (this.#over) return true;
    this.#held.push(Buffer.from(bytes));
    this.#bytes += bytes.length;
    this.#hasLine ||= bytes.includes(NEWLINE);
    if (!this.#sink.mayHold(this.#bytes))
      this.#fail(refused('concurrency_limit_exceeded', 'Too many bodies are held in memory. Try again shortly.'));
    else if (!this.#hasLine && this.#bytes > LONGEST_LINE) this.#fail(this.#sink.tooLong());
    else this.#work();
    return !this.#busy && !this.#full;
  }

  /** The last line may have no line end. */
  end(): void {
    this.#ended = true;
    this.#work();
  }

  drained(): void {
    this.#full = false;
    this.#work();
  }

  /** Nothing is written after this. */
  stop(): void {
    this.#over = true;
    this.#held = [];
  }

  #work(): void {
    if (this.#busy || this.#full || this.#over) return;
    const lines = this.#next();
    if (lines === undefined) {
      if (this.#ended) {
        this.#over = true;
        this.#sink.end();
      } else this.#sink.resume();
      return;
    }
    this.#busy = true;
    this.#edit(lines).then(
      (edited) => {
        this.#busy = false;
        if (this.#over) return;
        if ('code' in edited) return this.#fail(edited);
        this.#full = !this.#sink.write(edited.pieces, edited.shown);
        this.#work();
      },
      (error: unknown) => {
        if (!this.#over) this.#fail(refused('internal_error', 'Something went wrong on our side.', { cause: error }));
      },
    );
  }

  /** All whole lines that are there, at the end of the stream the rest; undefined when there is none. */
  #next(): Buffer | undefined {
    if (this.#bytes === 0 || (!this.#hasLine && !this.#ended)) return undefined;
    const all = this.#held.length === 1 ? (this.#held[0] as Buffer) : Buffer.concat(this.#held);
    const end = this.#ended ? all.length : all.lastIndexOf(NEWLINE) + 1;
    const rest = all.subarray(end);
    if (rest.length > LONGEST_LINE) {
      this.#fail(this.#sink.tooLong());
      return undefined;
    }
    this.#held = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    this.#hasLine = false;
    return all.subarray(0, end);
  }

  #fail(refusal: Refused): void {
    if (this.#over) return;
    this.stop();
    this.#sink.fail(refusal);
  }
}
