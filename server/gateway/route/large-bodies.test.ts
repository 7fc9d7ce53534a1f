import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { startGateway, startUpstream } from '../gateway.fixture.ts';
import { HOSTILE_BODIES } from '../templates/hostile-bodies.fixture.ts';
import { custodian, routeWith } from './fields/fields.fixture.ts';

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });
const running = await startGateway();
const LARGEST = 10 * 1024 * 1024 - 1024;
const sink = await startUpstream((_, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
const MASK = { direction: 'request', action: 'mask', mask: 'full', selectors: ['$..ssn', '$..a.b.c'] };

for (const [what, config, actions, shapes] of [
  ['a route adds to', { body: { added: true } }, [], ['objects', 'one field of pluses']],
  ['field actions apply to', {}, [MASK], ['objects of escaped names', 'words']],
] as const)
  test(`bodies of 10 MiB that ${what} keep no other call waiting`, async () => {
    const c = await custodian();
    const inject = 'body' in config ? { inject_body_json: config.body } : {};
    const { call } = await routeWith(running, c, sink.url, actions, inject);
    for (const shape of shapes) {
      const { type = '', text = () => '' } = HOSTILE_BODIES[shape] ?? {};
      const body = Buffer.from(text(LARGEST));
      const answer = await neverBlocks(() => call({ body, headers: { 'content-type': type } }));
      assert.equal(answer.status, 200, `${shape}: ${answer.body.slice(0, 300)}`);
    }
  });

test('ten of them at once keep no other call waiting', async () => {
  const c = await custodian();
  const { call } = await routeWith(running, c, sink.url, [], { inject_body_json: { added: true } });
  const bodies = ['objects', 'numbers', 'one field of pluses', 'escapes', 'a name of pluses'].map((shape) => {
    const { type = '', text = () => '' } = HOSTILE_BODIES[shape] ?? {};
    return { body: Buffer.from(text(LARGEST)), headers: { 'content-type': type } };
  });
  const answers = await neverBlocks(() => Promise.all([...bodies, ...bodies].map((ask) => call(ask))));
  assert.ok(answers.some(({ status }) => status === 200));
  for (const { status, body } of answers) assert.ok(status === 200 || status === 429, body.slice(0, 300));
});

test('lines without end, and a value of megabytes, keep no other call waiting either', async () => {
  const c = await custodian();
  const lines = await routeWith(running, c, sink.url, [{ ...MASK, content_type: 'application/x-ndjson' }]);
  const body = Buffer.from('{"n":1}\n'.repeat(60_000));
  const sent = await neverBlocks(() => lines.call({ body, headers: { 'content-type': 'application/x-ndjson' } }));
  assert.equal(sent.status, 200, sent.body);
  const strict = await routeWith(running, c, sink.url, [{ ...MASK, mode: 'strict' }]);
  const long = Buffer.from(JSON.stringify({ ssn: '\u0007'.repeat(300 * 1024) }));
  const refused = await neverBlocks(() => strict.json(long));
  assert.deepEqual([refused.status, /at \/ssn: it is longer than 1 MiB/.test(refused.body)], [424, true], refused.body);
});
