import { jsonOf, MalformedFrame, received, type StreamEvent, type Wire } from './event.ts';
import { readMessage } from './event-stream.ts';

/** Bytes of a streamed answer in, whole events out; cut anywhere, the bytes give the same events. */
export type StreamReader = {
  /**
   * Events that these bytes complete, a few at a time, so that whoever takes them can rest between. All are taken before the next bytes. Throws
   * {@link MalformedFrame} on a frame that can't be read or is too large.
   */
  push: (chunk: Buffer) => Iterable<readonly StreamEvent[]>;
  /** The last event when only its blank line is missing; undefined when nothing is left, or half an event. */
  end: () => StreamEvent | undefined;
  /** Bytes of an event that isn't whole yet. */
  held: () => number;
};

const LARGEST_FRAME = 8 * 1024 * 1024;
/** Frames that are read before the events among them are given out. */
const AT_ONCE = 64;
const LF = 10;
const CR = 13;

/** The index after the next event, or -1 while its end is missing. What lies before `searched` holds no end; `cr` says whether a CR may follow it. */
type Boundary = (bytes: Buffer, from: number, searched: number, cr: boolean) => number;

export function streamReader(wire: Exclude<Wire, 'json-list'>, largest = LARGEST_FRAME): StreamReader {
  const boundary = wire === 'sse' ? endOfEvent : wire === 'ndjson' ? endOfLine : endOfMessage(largest);
  const pending = pendingBytes();
  let atStart = wire === 'sse';
  return {
    *push(chunk) {
      if (chunk.length === 0) return;
      const searched = pending.length();
      const bytes = pending.append(chunk);
      let from = 0;
      if (atStart) {
        if (bytes[0] === BOM[0] && bytes.length < BOM.length) return pending.keep(bytes, 0);
        if (bytes.indexOf(BOM) === 0) from = BOM.length;
        atStart = false;
      }
      const cr = bytes.includes(CR, Math.max(0, searched - 3));
      let events: StreamEvent[] = [];
      for (let frames = 1; ; frames++) {
        const end = boundary(bytes, from, searched, cr);
        if ((end === -1 ? bytes.length : end) - from > largest) throw tooLarge();
        if (end === -1) break;
        const event = eventOf(wire, bytes.subarray(from, end));
        if (event) events.push(event);
        from = end;
        if (frames % AT_ONCE !== 0) continue;
        yield events;
        events = [];
      }
      pending.keep(bytes, from);
      if (events.length > 0) yield events;
    },
    held: () => pending.length(),
    end() {
      const rest = pending.rest();
      if (rest.length === 0 || wire === 'event-stream') return undefined;
      const event = eventOf(wire, wire === 'sse' ? Buffer.concat([rest, Buffer.from('\n\n')]) : Buffer.concat([rest, Buffer.from('\n')]));
      try {
        if (event) jsonOf(event);
        return event;
      } catch {
        return undefined;
      }
    },
  };
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const tooLarge = () => new MalformedFrame('the provider sent a frame that is too large');

function eventOf(wire: Wire, raw: Buffer): StreamEvent | undefined {
  if (wire === 'sse') return isBlank(raw) ? undefined : received('sse', raw);
  if (wire === 'event-stream') return readMessage(raw);
  const line = raw.toString('utf8').trim();
  return line === '' ? undefined : received('ndjson', raw, '', line);
}

/** Line ends alone, which are no event. */
function isBlank(raw: Buffer): boolean {
  for (const byte of raw) if (byte !== LF && byte !== CR) return false;
  return true;
}

function endOfLine(bytes: Buffer, from: number, searched: number): number {
  return bytes.indexOf(LF, Math.max(from, searched)) + 1 || -1;
}

/** The end of the blank line: two line ends in a row, each CRLF, LF or CR. A CR at the very end may be half of a CRLF, so it waits. */
function endOfEvent(bytes: Buffer, from: number, searched: number, cr: boolean): number {
  const start = Math.max(from, searched - 3);
  if (!cr) {
    const at = bytes.indexOf('\n\n', start, 'latin1');
    return at === -1 ? -1 : at + 2;
  }
  for (let at = start; at < bytes.length; at++) {
    const first = lineEnd(bytes, at);
    if (first === 0) continue;
    if (first === -1) return -1;
    const second = lineEnd(bytes, at + first);
    if (second === -1) return -1;
    if (second > 0) return at + first + second;
    at += first - 1;
  }
  return -1;
}

/** Length of the line end at this place: 0 when there is none, -1 when the next byte decides. */
function lineEnd(bytes: Buffer, at: number): number {
  if (at >= bytes.length) return -1;
  if (bytes[at] === LF) return 1;
  if (bytes[at] !== CR) return 0;
  return at + 1 >= bytes.length ? -1 : bytes[at + 1] === LF ? 2 : 1;
}

/** An AWS event stream says its length in the first four bytes. */
const endOfMessage =
  (largest: number): Boundary =>
  (bytes, from) => {
    if (bytes.length - from < 4) return -1;
    const length = bytes.readUInt32BE(from);
    if (length < 16 || length > largest) throw tooLarge();
    return bytes.length - from < length ? -1 : from + length;
  };

const EMPTY = Buffer.alloc(0);

/**
 * The bytes of an unfinished event. They are appended in place, so that an event in many small pieces costs no more than its length; events that were
 * given out are views of the store, and nothing is written where they lie.
 */
function pendingBytes() {
  let store = EMPTY;
  let start = 0;
  let end = 0;
  return {
    length: () => end - start,
    rest: () => store.subarray(start, end),
    append(chunk: Buffer): Buffer {
      const length = end - start;
      if (length === 0) return chunk;
      if (end + chunk.length > store.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(1_024, 2 * (length + chunk.length)));
        store.copy(larger, 0, start, end);
        store = larger;
        start = 0;
        end = length;
      }
      chunk.copy(store, end);
      end += chunk.length;
      return store.subarray(start, end);
    },
    /** Keeps what follows the last event. */
    keep(bytes: Buffer, from: number): void {
      const left = bytes.length - from;
      if (left === 0) {
        store = EMPTY;
        start = end = 0;
      } else if (bytes.buffer === store.buffer) start = end - left;
      else {
        store = Buffer.allocUnsafeSlow(Math.max(1_024, 2 * left));
        bytes.copy(store, 0, from);
        start = 0;
        end = left;
      }
    },
  };
}
