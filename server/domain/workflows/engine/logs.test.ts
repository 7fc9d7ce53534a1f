import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import test from 'node:test';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { definitionOf, ended, started, stored } from './running.fixture.ts';

await ownDatabase();

const VALUE = 'sk-live-"5b7c/+canary';
const forms = [VALUE, JSON.stringify(VALUE).slice(1, -1), encodeURIComponent(VALUE), '5b7c'];
for (const encoding of ['base64', 'base64url', 'hex'] as const) forms.push(Buffer.from(VALUE).toString(encoding));

test('a worker that logs all it can writes no secret of a run, whether its calls succeed, are refused, hang up or never arrive', async () => {
  const { live } = await workspace();
  await made(live, 'secrets.create', { name: 'TOKEN', value: VALUE });
  const asked: string[] = [];
  const port = await listen(
    createServer((req, res) => {
      asked.push(req.url ?? '');
      if (req.url?.startsWith('/reset')) return void req.socket.destroy();
      res.writeHead(req.url?.startsWith('/refused') ? 500 : 200, {
        'content-type': 'application/json',
        'x-echo': String(req.headers.authorization),
      });
      res.end(JSON.stringify({ echo: req.headers.authorization, url: req.url }));
    }),
  );
  const to = (base: string): [string, Record<string, unknown>] => [
    'http_request',
    {
      ...{ method: 'POST', url: base, body: { token: '{{secret:TOKEN}}' }, query: { key: '{{secret:TOKEN}}' }, timeoutMs: 2_000 },
      headers: { Authorization: 'Bearer {{secret:TOKEN}}' },
    },
  ];
  const targets = ['/answered', '/refused', '/reset'].map((path) => `http://127.0.0.1:${port}${path}`);
  // Nobody listens at one, and no resolver knows the other.
  targets.push('http://127.0.0.1:65002/', 'https://nobody.invalid/');
  const nodes = Object.fromEntries(targets.map((target, n) => [`n${n}`, to(target)]));
  const definition = definitionOf({ ...nodes, bad: ['transform', { template: '{{n0.body' }] }, [
    ...Object.keys(nodes).map((id) => `trigger>${id}`),
    'n0>bad',
  ]);
  const worker = fork(new URL('./logging-worker.fixture.ts', import.meta.url), {
    silent: true,
    env: { ...process.env, LOG_LEVEL: 'trace' },
  });
  let said = '';
  for (const stream of [worker.stdout, worker.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  try {
    for (const only of [definition, ...Object.entries(nodes).map(([id, node]) => definitionOf({ [id]: node }, [`trigger>${id}`]))])
      await ended(await started(live, await stored(live, only), {}));
  } finally {
    const gone = once(worker, 'exit');
    worker.kill('SIGTERM');
    await gone;
  }
  assert.match(said, /this worker logs everything/);
  assert.ok(
    ['/answered', '/refused', '/reset'].every((path) => asked.some((url) => url.startsWith(path) && url.includes('5b7c'))),
    'they were sent',
  );
  for (const form of forms) assert.ok(!said.includes(form), `${form} is in the log`);
});
