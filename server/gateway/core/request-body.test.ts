import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import test from 'node:test';
import { until } from '#server/testing/until.ts';
import { listen } from './raw-client.fixture.ts';
import { BodyRelay, BodyStalled } from './request-body.ts';

const HOUR = 3_600_000;

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

test('a caller that stops sending is noticed, also after the upstream was the slow one for a while', async (t) => {
  const failures: Error[] = [];
  const request = await stalling();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const relay = new BodyRelay(request, 100, (error) => failures.push(error));
  let got = '';
  relay.start({
    write(bytes) {
      got += bytes;
      return false;
    },
    end: () => undefined,
  });
  await until(() => got === 'abc');
  t.mock.timers.tick(HOUR);
  assert.equal(failures.length, 0, 'while the upstream is slow the caller is not to blame');
  relay.resume();
  t.mock.timers.tick(HOUR);
  assert.ok(failures[0] instanceof BodyStalled);
  assert.equal(failures.length, 1);
});
