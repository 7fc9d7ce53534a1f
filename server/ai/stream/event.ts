import { assertJsonShape, parseExactWithin } from '#server/kernel/bounded-text.ts';
import { MESSAGE_SHAPE, MOST_EXACT } from '../json.ts';
import { ready, type Steps, taken, type Waits } from './steps.ts';

/** How events lie in the bytes of a streamed answer. */
export type Wire = 'sse' | 'ndjson' | 'event-stream' | 'json-list';

/**
 * One event of a streamed answer. Its parts are read when something asks for them, and once; while nothing changes it, its own bytes go out again.
 * Read and change it by the functions below.
 */
export type StreamEvent = {
  /** The bytes as received, with the blank line that ends them; undefined for an event that was changed or made here. */
  raw: Buffer | undefined;
  readonly wire: Wire;
  name: string | undefined;
  data: string | undefined;
  json: unknown;
};

/** A part of the way of a stream: events in, events out; `end` gives what it held back. An event is pushed when the one before it has come out. */
export type WaitingStage = { push: (event: StreamEvent) => Waits<readonly StreamEvent[]>; end: () => Waits<readonly StreamEvent[]> };
/** One that never waits. */
export type Stage = { push: (event: StreamEvent) => readonly StreamEvent[]; end: () => readonly StreamEvent[] };

/** A streamed frame that isn't what its shape promises. What no control can read never reaches the caller, so this ends the stream. */
export class MalformedFrame extends Error {}

/** The data of an OpenAI stream's last event. */
export const DONE = '[DONE]';

export const received = (wire: Wire, raw: Buffer, name?: string, data?: string): StreamEvent => ({
  raw,
  wire,
  name,
  data,
  json: undefined,
});

/** An event that did not come from the provider. */
export const made = (wire: Wire, json: unknown, name = ''): StreamEvent => ({ raw: undefined, wire, name, data: '', json });

/** The last event of an OpenAI stream. */
export const doneEvent = (): StreamEvent => ({ raw: undefined, wire: 'sse', name: '', data: DONE, json: undefined });

/** A comment, which keeps a connection open and means nothing. */
export const commentEvent = (text: string): StreamEvent => ({
  raw: Buffer.from(`: ${text}\n\n`),
  wire: 'sse',
  name: '',
  data: '',
  json: undefined,
});

/** The event's name: `event:` of SSE, `:event-type` or `:exception-type` of an AWS event stream; empty without one. */
export function nameOf(event: StreamEvent): string {
  if (event.name === undefined) readFields(event);
  return event.name as string;
}

/** The event's data as text, empty for a comment. Not for a changed event, whose text is made when it is written. */
export function dataOf(event: StreamEvent): string {
  if (event.data === undefined) readFields(event);
  return event.data as string;
}

/** The event's JSON, parsed at the first call; undefined for a comment and for `[DONE]`. Throws {@link MalformedFrame}. */
export function jsonOf(event: StreamEvent): unknown {
  if (event.json === undefined) {
    const data = dataOf(event);
    if (data === '' || data === DONE) return undefined;
    try {
      assertJsonShape(data, MESSAGE_SHAPE);
      event.json = parseExactWithin(data, MOST_EXACT);
    } catch {
      throw new MalformedFrame('the provider sent a frame that is not JSON, or has too many members');
    }
  }
  return event.json;
}

/** Says that the event's JSON was changed, so that it is written anew. */
export function changed(event: StreamEvent): StreamEvent {
  nameOf(event);
  event.raw = undefined;
  return event;
}

/**
 * Whether the event holds the text: a cheap question before parsing. True for an event that has no bytes of its own. Asked of the text, which is decoded
 * once for all questions; a search in the bytes costs more each time.
 */
export const mentions = (event: StreamEvent, text: string): boolean =>
  event.raw === undefined || dataOf(event).includes(text) || nameOf(event).includes(text);

/** Runs events through all stages, in order. */
export const throughStages = (stages: readonly WaitingStage[], events: readonly StreamEvent[]): Waits<readonly StreamEvent[]> =>
  taken(passing(stages, events, 0));

function* passing(stages: readonly WaitingStage[], events: readonly StreamEvent[], from: number): Steps<readonly StreamEvent[]> {
  let current = events;
  for (let index = from; index < stages.length && current.length > 0; index++) {
    const stage = stages[index] as WaitingStage;
    if (current.length === 1) {
      current = yield* ready(stage.push(current[0] as StreamEvent));
      continue;
    }
    const passed: StreamEvent[] = [];
    for (const event of current) passed.push(...(yield* ready(stage.push(event))));
    current = passed;
  }
  return current;
}

/** Ends all stages, in order: what one gives out goes through those after it. */
export const endStages = (stages: readonly WaitingStage[]): Waits<readonly StreamEvent[]> => taken(ending(stages));

function* ending(stages: readonly WaitingStage[]): Steps<readonly StreamEvent[]> {
  const last: StreamEvent[] = [];
  for (const [index, stage] of stages.entries()) last.push(...(yield* passing(stages, yield* ready(stage.end()), index + 1)));
  return last;
}

const MOST_LINES = 10_000;

/** Server-sent events: fields of lines that end with CRLF, LF or CR; several data lines are joined with LF. Throws {@link MalformedFrame}. */
function readFields(event: StreamEvent): void {
  const text = (event.raw as Buffer).toString('utf8');
  const lines = text.includes('\r') ? text.split(/\r\n|\r|\n/, MOST_LINES + 1) : text.split('\n', MOST_LINES + 1);
  if (lines.length > MOST_LINES) throw new MalformedFrame('the provider sent an event of too many lines');
  let name = '';
  const data: string[] = [];
  for (const line of lines) {
    if (line.startsWith('data:')) data.push(line.slice(line.charCodeAt(5) === 32 ? 6 : 5));
    else if (line.startsWith('event:')) name = line.slice(line.charCodeAt(6) === 32 ? 7 : 6);
  }
  event.name ??= name;
  event.data ??= data.length === 1 ? (data[0] as string) : data.join('\n');
}
