import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { bodyMemory } from './body-memory.ts';

await testDatabase();
const running = await startGateway();
const { port } = running;
const size = 400_000;

/** A call whose body lacks its last byte. */
function unfinished(w: Workspace, key: string, path: string) {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    answer += bytes;
  });
  const head = `POST ${path} HTTP/1.1\r\nHost: ${w.tenant.slug}.localhost\r\nX-Svc-Key: ${key}\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}Content-Length: ${size}\r\n\r\n{"a":"${'x'.repeat(size - 8)}"`);
  return { finish: () => socket.write('}'), answer: () => answer, socket };
}

test('bodies whose last byte does not come hold what one workspace may hold, and no other is kept out', async () => {
  running.runtime.bodies = bodyMemory(1_000_000, 2_000_000);
  const upstream = await startUpstream();
  const people = [];
  for (let i = 0; i < 2; i++) {
    const w = await workspace();
    await makeRoute(w, 'adds', upstream.url, { inject_body_json: { b: 1 } });
    people.push({ w, key: (await w.key()).text });
    await served(running, w);
  }
  const [mine, other] = people as [(typeof people)[0], (typeof people)[0]];
  const all = Array.from({ length: 6 }, () => unfinished(mine.w, mine.key, '/adds'));
  await until(() => all.filter((one) => one.answer() !== '').length === 4);
  const body = `{"a":"${'x'.repeat(size - 9)}"}`;
  const send = ({ w, key }: typeof mine) =>
    ask(port, w.tenant.slug, '/adds', { method: 'POST', key, body, headers: { 'content-type': 'application/json' } });
  assert.equal((await send(mine)).status, 429);
  assert.equal((await send(other)).status, 200);
  const refused = all.filter((one) => one.answer() !== '');
  assert.equal(refused.length, 4);
  for (const one of refused) assert.match(one.answer(), /^HTTP\/1\.1 429 [\s\S]*X-Svc-Error: concurrency_limit_exceeded/);
  const waiting = all.filter((one) => one.answer() === '');
  for (const one of waiting) one.finish();
  await until(() => waiting.every((one) => one.answer().startsWith('HTTP/1.1 200')));
  assert.equal((await send(mine)).status, 200, 'what is over holds nothing');
  const gone = [unfinished(mine.w, mine.key, '/adds'), unfinished(mine.w, mine.key, '/adds')];
  await until(async () => (await send(mine)).status === 429);
  for (const { socket } of gone) socket.destroy();
  await until(async () => (await send(mine)).status === 200);
});

test('an answer that may not be held whole goes on as it comes, and arrives all the same', async () => {
  const upstream = await startUpstream((_, res) => res.writeHead(200, { 'content-length': size }).end(Buffer.alloc(size, 'y')));
  const w = await workspace();
  await makeRoute(w, 'large', upstream.url);
  const { text: key } = await w.key();
  await served(running, w);
  const phases = [];
  for (const held of [bodyMemory(), bodyMemory(100_000)]) {
    running.runtime.bodies = held;
    const { headers, body } = await ask(port, w.tenant.slug, '/large', { key });
    assert.ok(body === 'y'.repeat(size));
    phases.push(headers['x-svc-latency-phase']);
  }
  assert.deepEqual(phases, ['complete', 'first-byte']);
});
