import fs from 'node:fs';
import type { JsonObject } from '../json.ts';
import { adapterOf } from '../shapes/adapters.ts';
import { dataOf, nameOf, type StreamEvent } from '../stream/event.ts';
import { writtenMessage } from '../stream/event-stream.ts';
import { eventsIn } from '../stream/events.fixture.ts';
import { streamWriter } from '../stream/writer.ts';
import type { ClientShape, UpstreamShape } from './shapes.ts';
import { translation } from './translation.ts';

/** One case of a translation: what is given, and what must come out. `stream` holds events as `[name, data]`. */
export type Golden = {
  from: ClientShape;
  to: UpstreamShape;
  context?: { model?: string; provider?: string; ceiling?: number };
  request: JsonObject;
  translated?: unknown;
  answer?: JsonObject;
  translatedAnswer?: unknown;
  stream?: [name: string, data: unknown][];
  translatedStream?: unknown;
};

const folder = new URL('./golden/', import.meta.url);

export function goldenCases(): { name: string; golden: Golden }[] {
  const files = fs.readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.sort().map((name) => ({ name, golden: JSON.parse(fs.readFileSync(new URL(name, folder), 'utf8')) as Golden }));
}

/** What the code makes of a case now. */
export function outcome({
  from,
  to,
  context,
  request,
  answer,
  stream,
}: Golden): Pick<Golden, 'translated' | 'translatedAnswer' | 'translatedStream'> {
  const made = translation(from, to, {
    model: 'the-model',
    provider: null,
    requestId: 'req-01',
    now: new Date(1_795_196_040_000),
    ...context,
  });
  const translated = made.request(structuredClone(request));
  return plain({
    translated,
    ...(answer && { translatedAnswer: made.answer(answer) }),
    ...(stream && { translatedStream: written(made.stream().push, to, [upstreamBytes(to, stream)]) }),
  });
}

/** The bytes that the provider sends. */
export function upstreamBytes(to: UpstreamShape, stream: readonly (readonly [string, unknown])[]): Buffer {
  if (to === 'bedrock-converse') return Buffer.concat(stream.map(([name, data]) => writtenMessage(name, data)));
  const frame = ([name, data]: readonly [string, unknown]) =>
    `${name === '' ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
  return Buffer.from(stream.map(frame).join(''));
}

/** What the caller reads of a stream that comes in these chunks. */
export function written(push: (event: StreamEvent) => readonly StreamEvent[], to: UpstreamShape, chunks: readonly Buffer[]): unknown[] {
  const wire = adapterOf(to).stream.wire;
  const bytes = streamWriter('sse').bytes(eventsIn(wire === 'event-stream' ? wire : 'sse', ...chunks).flatMap(push));
  return eventsIn('sse', bytes).map((event) => [nameOf(event), dataOf(event).startsWith('{') ? JSON.parse(dataOf(event)) : dataOf(event)]);
}

const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
