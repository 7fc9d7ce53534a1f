import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from './raw-client.fixture.ts';
import { BodyRelay, BodyStalled } from './request-body.ts';

/** A request whose caller sends three bytes of ten and then nothing. */
async function stalling(): Promise<IncomingMessage> {
  let arrived = (_: IncomingMessage) => {};
  const request = new Promise<IncomingMessage>((resolve) => {
    arrived = resolve;
  });
  const socket = connect(await listen(createServer((req) => arrived(req))), '127.0.0.1');
  socket.on('error', () => undefined).write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
  return request;
}

test('a caller that stops sending is noticed, also after the upstream was the slow one for a while', async () => {
  const failures: Error[] = [];
  const relay = new BodyRelay(await stalling(), 100, (error) => failures.push(error), null, 80);
  let got = '';
  relay.start({
    write(bytes) {
      got += bytes;
      return false;
    },
    end: () => undefined,
  });
  await sleep(200);
  assert.deepEqual([got, failures.length], ['abc', 0], 'while the upstream is slow the caller is not to blame');
  relay.resume();
  await sleep(200);
  assert.ok(failures[0] instanceof BodyStalled);
  assert.equal(failures.length, 1);
});
