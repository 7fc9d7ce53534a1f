import { dataOf, nameOf, type StreamEvent, type Wire } from './event.ts';
import { writtenMessage } from './event-stream.ts';

/** Events in, bytes for the caller out. */
export type StreamWriter = {
  readonly contentType: string;
  /** The bytes of these events; those of unchanged neighbours are one view of what was received. */
  bytes: (events: readonly StreamEvent[]) => Buffer;
  /** Keeps a silent connection open; undefined where the wire has no comments. */
  comment: (text: string) => Buffer | undefined;
  /** The last frame of a stream that failed after its first one: an error object in the client's wire format (spec/51 §7.4). */
  failure: (error: object) => Buffer;
  /** What ends a whole stream, mostly nothing. */
  end: () => Buffer;
};

const NOTHING = Buffer.alloc(0);
const CONTENT_TYPES: Readonly<Record<Wire, string>> = {
  sse: 'text/event-stream; charset=utf-8',
  ndjson: 'application/x-ndjson',
  'event-stream': 'application/vnd.amazon.eventstream',
  'json-list': 'application/json; charset=utf-8',
};

export function streamWriter(wire: Wire): StreamWriter {
  let count = 0;
  const written = (event: StreamEvent) => (wire === 'json-list' ? listItem(event) : writtenEvent(wire, event));
  /** Gemini without `alt=sse` streams one JSON list, an object at a time. */
  const listItem = (event: StreamEvent) => {
    const data = event.json === undefined ? dataOf(event) : JSON.stringify(event.json);
    return data === '' ? NOTHING : Buffer.from(`${count++ === 0 ? '[' : ',\n'}${data}`);
  };
  return {
    contentType: CONTENT_TYPES[wire],
    bytes(events) {
      if (events.length === 1) return written(events[0] as StreamEvent);
      if (wire !== 'json-list') {
        const whole = neighbours(wire, events);
        if (whole) return whole;
      }
      return Buffer.concat(events.map(written));
    },
    comment: (text) => (wire === 'sse' ? Buffer.from(`: ${text}\n\n`) : undefined),
    failure(error) {
      if (wire === 'sse') return Buffer.from(`event: error\ndata: ${JSON.stringify(error)}\n\n`);
      if (wire === 'ndjson') return Buffer.from(`${JSON.stringify(error)}\n`);
      if (wire === 'event-stream') return writtenMessage('!modelStreamErrorException', error);
      return Buffer.from(`${count++ === 0 ? '[' : ',\n'}${JSON.stringify(error)}]`);
    },
    end: () => (wire === 'json-list' ? Buffer.from(count === 0 ? '[]' : ']') : NOTHING),
  };
}

/** All events as one view, when they are unchanged and lie side by side. */
function neighbours(wire: Wire, events: readonly StreamEvent[]): Buffer | undefined {
  const first = events[0]?.raw;
  if (!first) return undefined;
  let end = first.byteOffset;
  for (const { raw, wire: own } of events) {
    if (!raw || own !== wire || raw.buffer !== first.buffer || raw.byteOffset !== end) return undefined;
    end += raw.length;
  }
  return Buffer.from(first.buffer, first.byteOffset, end - first.byteOffset);
}

function writtenEvent(wire: Wire, event: StreamEvent): Buffer {
  if (event.raw && event.wire === wire) return event.raw;
  if (wire === 'event-stream') return writtenMessage(nameOf(event), event.json);
  const data = event.json === undefined ? dataOf(event) : JSON.stringify(event.json);
  if (wire === 'ndjson') return Buffer.from(`${data}\n`);
  const name = nameOf(event);
  return Buffer.from(name === '' ? `data: ${data}\n\n` : `event: ${name}\ndata: ${data}\n\n`);
}
