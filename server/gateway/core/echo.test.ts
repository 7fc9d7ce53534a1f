import assert from 'node:assert/strict';
import test from 'node:test';
import type { UpstreamRequest } from '#server/platform/http-out/upstream-call.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { startEcho } from './echo.ts';

const echo = await startEcho();
test.after(() => echo.close());

const ask = (request: Partial<UpstreamRequest>) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    echo.pool.send(
      { method: 'POST', path: '/', headers: ['host', 'echo'], ...request },
      {
        onHead(code) {
          status = code;
        },
        onData: (bytes) => void chunks.push(Buffer.from(bytes)),
        onEnd: () => resolve({ status, body: Buffer.concat(chunks).toString() }),
        onFault: reject,
      },
    );
  });

test('a caller that hangs up in the middle of its body ends its own call and not the gateway', async () => {
  const fatal: unknown[] = [];
  const note = (error: unknown) => void fatal.push(error);
  process.on('unhandledRejection', note);
  const call = echo.pool.send(
    {
      method: 'POST',
      path: '/',
      headers: ['host', 'echo'],
      body: { length: null, source: { start: (sink) => void sink.write(Buffer.from('x')), resume() {} } },
    },
    { onHead() {}, onData() {}, onEnd() {}, onFault() {} },
  );
  // When a later call is answered, the server has seen what was sent before it.
  await ask({ method: 'GET' });
  call.abort();
  await ask({ method: 'GET' });
  process.off('unhandledRejection', note);
  assert.deepEqual(fatal, []);
  assert.equal((await ask({ body: Buffer.from('{"a":1}') })).status, 200);
});

test('calls of one workspace that never end leave room for those of the others', async () => {
  const body = { length: null, source: { start: () => undefined, resume: () => undefined } };
  const handler = { onHead() {}, onData() {}, onEnd() {}, onFault() {} };
  const open = Array.from({ length: 200 }, () => echo.pool.send({ method: 'POST', path: '/', headers: ['host', 'echo'], body }, handler));
  assert.equal((await ask({ method: 'GET' })).status, 200);
  for (const call of open) call.abort();
});

test('a body is shown for what it is long: nesting costs neither the stack nor indentation without end', async () => {
  const nested = [100, 3_000, 200_000].map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`);
  for (const body of [...nested, `${'['.repeat(16)}${'1,'.repeat(500_000)}1${']'.repeat(16)}`]) {
    const answer = await ask({ body: Buffer.from(body), headers: ['host', 'echo', 'content-type', 'application/json'] });
    assert.equal(answer.status, 200);
    assert.ok(answer.body.length < body.length * 8 + 100_000, `${answer.body.length} characters for ${body.length}`);
  }
  const shown = (body: Buffer) => ask({ body, headers: ['host', 'echo', 'content-type', 'application/json'] });
  await assertGrowsLinearly('nesting', 100_000, (depth) => Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`), shown);
  const list = (size: number) => Buffer.from(`${'['.repeat(16)}${'1,'.repeat(size)}1${']'.repeat(16)}`);
  await assertGrowsLinearly('nested list', 100_000, list, shown);
});

test('a body is shown with the numbers and names that arrived', async () => {
  const sent = '{"account":7615917337495251231,"rate":1.10,"most":1e400,"zero":-0,"__proto__":{"a":1}}';
  const { body } = await ask({ body: Buffer.from(sent) });
  assert.ok(body.replaceAll(/\s/g, '').includes(`"body":${sent}`), body);
});

test('a body of nothing but numbers with digits of their own is shown without holding up others', async () => {
  const numbers = `[${'-0,'.repeat(21_000)}1]`;
  await neverBlocks(async () => assert.equal((await ask({ body: Buffer.from(numbers) })).status, 200));
});
