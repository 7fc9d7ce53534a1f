import assert from 'node:assert/strict';
import test from 'node:test';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { THOROUGH } from '#server/testing/thorough.ts';
import { dataOf, MalformedFrame, nameOf, type StreamEvent } from './event.ts';
import { writtenMessage } from './event-stream.ts';
import { eventsIn } from './events.fixture.ts';
import { streamReader } from './reader.ts';
import { streamWriter } from './writer.ts';

const runs = THOROUGH ? 5_000 : 200;
const pieces = fc.constantFrom(
  'data: ',
  'data:',
  'event: x',
  ': note',
  'id: 1',
  'a',
  'é',
  '😀',
  '{"a":1}',
  ' ',
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  '\r\n\r\n',
);
const streams = fc.array(pieces, { maxLength: 40 }).map((parts) => Buffer.from(`${parts.join('')}\n\n`));

function readIn(wire: 'sse' | 'ndjson' | 'event-stream', chunks: readonly Buffer[]): StreamEvent[] {
  const reader = streamReader(wire);
  const events = chunks.flatMap((chunk) => [...reader.push(chunk)].flat());
  const last = reader.end();
  return last ? [...events, last] : events;
}

const told = (events: readonly StreamEvent[]) => events.map((event) => [nameOf(event), dataOf(event)]).filter(([, data]) => data !== '');

test('any stream of server-sent events gives what an independent parser reads, however it is cut', () => {
  fc.assert(
    fc.property(streams, fc.array(fc.nat(200), { maxLength: 8 }), (bytes, cuts) => {
      const expected: [string, string][] = [];
      const parser = createParser({ onEvent: ({ event, data }) => data !== '' && expected.push([event ?? '', data]) });
      parser.feed(bytes.toString('utf8'));
      const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      assert.deepEqual(told(readIn('sse', chunks)), expected);
    }),
    { numRuns: runs },
  );
});

test('a stream cut at every byte offset gives the same events and the same bytes', () => {
  const sse = Buffer.from('\ufeffevent: a\r\ndata: {"x":"é😀"}\r\n\r\n: ping\n\ndata: 1\ndata: 2\r\rdata: [DONE]\n\n');
  const ndjson = Buffer.from('{"a":"é"}\n\n{"b":2}\r\n{"c":3}');
  const messages = Buffer.concat([
    writtenMessage('messageStart', { role: 'assistant' }),
    writtenMessage('!throttlingException', { message: 'é' }),
  ]);
  for (const [wire, bytes] of [
    ['sse', sse],
    ['ndjson', ndjson],
    ['event-stream', messages],
  ] as const) {
    const whole = readIn(wire, [bytes]);
    assert.ok(whole.length > 1);
    for (let at = 0; at <= bytes.length; at++) {
      const cut = readIn(wire, [bytes.subarray(0, at), bytes.subarray(at)]);
      assert.deepEqual(told(cut), told(whole), `${wire} cut at ${at}`);
      assert.deepEqual(streamWriter(wire).bytes(cut), streamWriter(wire).bytes(whole), `${wire} written after a cut at ${at}`);
    }
    const byByte = readIn(
      wire,
      Array.from(bytes, (byte) => Buffer.from([byte])),
    );
    assert.deepEqual(told(byByte), told(whole), `${wire} byte by byte`);
  }
});

test('unchanged events of one chunk go out as a view of it', () => {
  const bytes = Buffer.from('data: 1\n\ndata: 2\n\ndata: 3\n\n');
  const written = streamWriter('sse').bytes(eventsIn('sse', bytes));
  assert.equal(written.buffer, bytes.buffer);
  assert.deepEqual(written, bytes);
});

test('half an event at the end of a stream is dropped, and one that lacks its blank line is completed', () => {
  assert.equal(readIn('sse', [Buffer.from('data: {"a":')]).length, 0);
  const [last] = readIn('sse', [Buffer.from('data: [DONE]')]);
  assert.equal(last?.raw?.toString(), 'data: [DONE]\n\n');
});

test('a frame larger than the limit and a message with a wrong checksum end the stream', () => {
  const reader = streamReader('sse', 100);
  assert.throws(() => Array.from({ length: 20 }, () => [...reader.push(Buffer.from('data: 123456'))]), MalformedFrame);
  const message = writtenMessage('a', {});
  message.writeUInt8(message.readUInt8(message.length - 1) ^ 1, message.length - 1);
  assert.throws(() => eventsIn('event-stream', message), MalformedFrame);
  assert.throws(() => eventsIn('event-stream', Buffer.from('ffffffffffffffff')), MalformedFrame);
});
