import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createWebForward, type WebForward } from './web-forward.ts';
import { webHealth } from './web-health.ts';

test('a web process that hangs delays no answer from what it said last, which says so once its time is up', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let asks = 0;
  const web: Pick<WebForward, 'ask'> = {
    ask: () => {
      asks++;
      return new Promise(() => {});
    },
  };
  const health = webHealth(web);
  assert.deepEqual([health.known(), asks], [{ api: null, pages: null }, 1], 'and web was asked for the next answer');
  const said = health.asked();
  t.mock.timers.tick(2_000);
  assert.equal((await said).api?.part, 'web');
  assert.equal(health.known().api?.part, 'web');
});

/** A server like that of web, on a socket like its own; `answer` is what it says next. */
async function server(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'web-health-'));
  const socketPath = path.join(folder, 'web.sock');
  const said = { answer: (res: ServerResponse) => void res.end() };
  const listening = createServer((req, res) => (req.url === '/__ready' ? said.answer(res) : res.writeHead(404).end()));
  await new Promise<void>((resolve) => listening.listen(socketPath, resolve));
  const web = createWebForward({ socketPath });
  t.after(() => {
    web.close();
    listening.closeAllConnections();
    listening.close();
    rmSync(folder, { recursive: true });
  });
  return { said, web };
}

/** Asked by a clock that moves on by itself, so that nothing is remembered. */
function clock(t: TestContext, web: Pick<WebForward, 'ask'>) {
  let now = 0;
  t.mock.method(performance, 'now', () => (now += 10_000));
  return webHealth(web);
}

test('web is asked as an HTTP server wants it, and each of its answers is told for what it is', async (t) => {
  const { said, web } = await server(t);
  const health = clock(t, web);
  assert.deepEqual(await health.asked(), { api: null, pages: null });
  said.answer = (res) => void res.writeHead(503).end();
  const building = await health.asked();
  assert.deepEqual([building.api, building.pages?.part], [null, 'dashboard']);
  said.answer = (res) => void res.writeHead(400).end();
  const wrong = await health.asked();
  assert.deepEqual([wrong.api?.part, wrong.pages], ['web', null], 'not an answer of ours');
  said.answer = (res) => void res.end();
  assert.deepEqual(await health.asked(), { api: null, pages: null });
});

test('each trouble has the time at which it began', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 });
  let next: { status: number } | 'unavailable' = { status: 503 };
  const web = { ask: async () => (typeof next === 'string' ? next : { ...next, headers: {}, text: '' }) };
  const health = clock(t, web);
  const at = async (seconds: number, answer: typeof next) => {
    t.mock.timers.setTime(seconds * 1_000);
    next = answer;
    const { api, pages } = await health.asked();
    return (api ?? pages)?.since?.getTime();
  };
  assert.equal(await at(10, { status: 503 }), 10_000);
  assert.equal(await at(20, { status: 503 }), 10_000);
  assert.equal(await at(30, 'unavailable'), 30_000, 'a process that ends was being built until then');
  assert.equal(await at(40, 'unavailable'), 30_000);
  assert.equal(await at(50, { status: 200 }), undefined);
  assert.equal(await at(60, 'unavailable'), 60_000);
});
