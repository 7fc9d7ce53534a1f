import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import test from 'node:test';
import { BoundedStream, TooMuch } from './bounded-stream.ts';

test('a piece of work may be sent as much as it has room for, and one byte more ends the connection', async () => {
  const source = new PassThrough();
  const stream = new BoundedStream(source, 1_000);
  stream.resume();
  for (let piece = 0; piece < 3; piece++) {
    source.write(Buffer.alloc(1_000));
    await once(stream, 'data');
    stream.refill();
  }
  assert.equal(stream.destroyed, false);
  source.write(Buffer.alloc(600));
  await once(stream, 'data');
  source.write(Buffer.alloc(401));
  const [fault] = await once(stream, 'error');
  assert.ok(fault instanceof TooMuch);
  assert.equal(source.destroyed, true, 'and what is still on its way is not read');
});
