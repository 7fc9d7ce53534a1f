import { EventStreamCodec } from '@smithy/eventstream-codec';
import { MalformedFrame, received, type StreamEvent } from './event.ts';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(typeof bytes === 'string' ? bytes : Buffer.from(bytes as Uint8Array)).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

// Messages of `application/vnd.amazon.eventstream`: lengths, headers and payload, each under a CRC-32.

/** An event whose name is the `:event-type`, or `!` and the `:exception-type`. */
export function readMessage(raw: Buffer): StreamEvent {
  try {
    const { headers, body } = codec.decode(raw);
    const of = (name: string) => String(headers[name]?.value ?? '');
    const failed = of(':message-type') !== 'event';
    const name = failed ? `!${of(':exception-type') || of(':error-code') || 'error'}` : of(':event-type');
    return received('event-stream', raw, name, Buffer.from(body).toString('utf8'));
  } catch {
    throw new MalformedFrame('the provider sent an event stream message that fails its checksum');
  }
}

/** The bytes of an event that was made or changed here. */
export function writtenMessage(name: string, json: unknown): Buffer {
  const failed = name.startsWith('!');
  const text = (value: string) => ({ type: 'string', value }) as const;
  const headers = {
    [failed ? ':exception-type' : ':event-type']: text(failed ? name.slice(1) : name),
    ':content-type': text('application/json'),
    ':message-type': text(failed ? 'exception' : 'event'),
  };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(json)) }));
}
