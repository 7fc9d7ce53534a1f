import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { SPELLINGS } from '#server/custody/redaction/encodings.fixture.ts';
import { db } from '#server/platform/db.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { testNode } from './node-test.ts';
import { definitionOf, ended, executionOf, runsOf, started, stored, working } from './running.fixture.ts';

await ownDatabase();
working();

const VALUE = 'sk-live-"3f9a/+value';
const seen: { headers: Record<string, unknown>; body: string; url: string }[] = [];
/** Gives back all it got, in every form that a server may. */
const port = await listen(
  createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    seen.push({ headers: req.headers, body, url: req.url ?? '' });
    const given = String(req.headers.authorization ?? '');
    res.setHeader('x-echo', Buffer.from(VALUE).toString('base64'));
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ given, body, [VALUE]: 1, hex: Buffer.from(VALUE).toString('hex'), list: [encodeURIComponent(VALUE)] }));
  }),
);
const url = `http://127.0.0.1:${port}/`;
const request = (config: Record<string, unknown>): [string, Record<string, unknown>] => [
  'http_request',
  { method: 'POST', url, ...config },
];

test('a redirect takes no secret to another origin, in whatever header it stands', async () => {
  const { live } = await workspace();
  await made(live, 'secrets.create', { name: 'TOKEN', value: VALUE });
  const away = await listen(
    createServer((_, res) => {
      res.writeHead(302, { location: `http://localhost:${port}/elsewhere` }).end();
    }),
  );
  const config = {
    ...{ method: 'GET', url: `http://127.0.0.1:${away}/`, followRedirects: true },
    headers: { 'X-Api-Key': '{{secret:TOKEN}}', 'X-Plain': 'kept' },
  };
  seen.length = 0;
  const execution = await ended(await started(live, await stored(live, definitionOf({ a: ['http_request', config] }, ['trigger>a'])), {}));
  assert.deepEqual([execution.status, execution.error_message], ['completed', null]);
  assert.deepEqual([seen[0]?.url, seen[0]?.headers['x-plain'], seen[0]?.headers['x-api-key']], ['/elsewhere', 'kept', undefined]);
});

test('a secret goes to where its config says and nowhere else: not into runs, events, or what is at rest', async () => {
  const { live } = await workspace();
  await made(live, 'secrets.create', { name: 'TOKEN', value: VALUE });
  const config = {
    headers: { Authorization: 'Bearer {{secret:TOKEN}}' },
    query: { key: '{{secret:TOKEN}}' },
    body: { deep: [{ token: 'x{{secret:TOKEN}}' }], n: '{{trigger.data.n}}' },
  };
  const definition = definitionOf(
    {
      a: request(config),
      b: ['transform', { template: '{{a}}' }],
      c: ['http_request', { method: 'GET', url, auth: { type: 'basic', username: 'u', password: '{{secret:TOKEN}}' } }],
    },
    ['trigger>a', 'a>b', 'b>c'],
  );
  seen.length = 0;
  const id = await started(live, await stored(live, definition), { n: 1 });
  const execution = await ended(id);
  assert.deepEqual([execution.status, execution.error_message], ['completed', null]);
  const [first, second] = seen;
  assert.equal(first?.headers.authorization, `Bearer ${VALUE}`);
  assert.equal(first?.url, `/?key=${encodeURIComponent(VALUE)}`);
  assert.deepEqual(JSON.parse(first?.body ?? ''), { deep: [{ token: `x${VALUE}` }], n: 1 });
  assert.equal(second?.headers.authorization, `Basic ${Buffer.from(`u:${VALUE}`).toString('base64')}`);
  const runs = await runsOf(live, id);
  const text = JSON.stringify([runs, execution, await db().events.findMany({ where: { tenant_id: live.tenant_id } })]);
  for (const form of [
    VALUE,
    JSON.stringify(VALUE).slice(1, -1),
    '3f9a/+value',
    Buffer.from(VALUE).toString('base64'),
    Buffer.from(VALUE).toString('hex'),
  ])
    assert.ok(!text.includes(form), form);
  const shown = runs.find(({ node_id }) => node_id === 'a')?.input as
    | { headers: Record<string, string>; url: string; body: unknown }
    | undefined;
  assert.deepEqual([shown?.headers.authorization, shown?.body], ['Bearer [secret:TOKEN]', { deep: [{ token: 'x[secret:TOKEN]' }], n: 1 }]);
  // And what is at rest is sealed: neither values nor inputs stand in any row.
  const { rows } = await sql().query(
    'select e::text as row from workflow_executions e where id = $1 union all select n::text from workflow_node_executions n where execution_id = $1',
    [id],
  );
  assert.ok(!JSON.stringify(rows).includes('trigger.data') && !JSON.stringify(rows).includes('Bearer'));
});

test('what a server gives back is kept without the secret, however it is written: in a run, in its failure, and in the test of a step', async () => {
  const w = await workspace();
  for (const ctx of [w.live, w.test]) await made(ctx, 'secrets.create', { name: 'TOKEN', value: VALUE });
  const spelled = Object.entries(SPELLINGS).filter(([name]) => name !== 'UTF-16');
  const echo = await listen(
    createServer((req, res) => {
      const spell = spelled.find(([name]) => name === decodeURIComponent(req.url?.split('/')[2] ?? ''))?.[1];
      res.setHeader('x-token', Buffer.from(VALUE).toString('base64'));
      res.setHeader('content-type', 'text/plain');
      res.writeHead(req.url?.startsWith('/fails') ? 500 : 200).end(Buffer.from(`seen: ${spell?.(VALUE, Buffer.from(VALUE)) ?? ''} .`));
    }),
  );
  const mark = '[redacted:secret:TOKEN]';
  for (const ctx of [w.live, w.test])
    for (const path of ['gives', 'fails'])
      for (const [name] of path === 'gives' ? spelled : spelled.slice(0, 3)) {
        const config = {
          method: 'GET',
          url: `http://127.0.0.1:${echo}/${path}/${encodeURIComponent(name)}`,
          headers: { 'x-a': '{{secret:TOKEN}}' },
        };
        const definition = definitionOf({ a: ['http_request', config] }, ['trigger>a']);
        const workflow = await stored(ctx, definition);
        const own = { email: null, phone: null };
        const step = await testNode(ctx, { workflow: { id: workflow.id, environment: null }, definition, node_id: 'a', own });
        const outputs: unknown[] = [step.output];
        if (name === spelled[0]?.[0]) {
          const id = await started(ctx, workflow);
          const execution = await ended(id);
          outputs.push((await runsOf(ctx, id)).find(({ node_id }) => node_id === 'a')?.output);
          assert.ok(!JSON.stringify(execution).includes('3f9a'), name);
        }
        for (const output of outputs as { body: string; headers: Record<string, string> }[]) {
          assert.deepEqual(
            [output.headers['x-token']?.replace(/=+$/, ''), output.body.includes(mark)],
            [mark, true],
            `${name}: ${output.body}`,
          );
          assert.ok(!output.body.includes('3f9a/+value'), name);
        }
      }
});

test('an answer that nobody can look into is withheld when a secret was sent', async () => {
  const { live } = await workspace();
  await made(live, 'secrets.create', { name: 'TOKEN', value: VALUE });
  const zipped = await listen(createServer((_, res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(VALUE))));
  const run = async (headers: Record<string, string>) => {
    const definition = definitionOf({ a: ['http_request', { method: 'GET', url: `http://127.0.0.1:${zipped}/`, headers }] }, ['trigger>a']);
    const id = await started(live, await stored(live, definition));
    return { ...(await ended(id)), runs: JSON.stringify(await runsOf(live, id)) };
  };
  const withheld = await run({ 'x-a': '{{secret:TOKEN}}' });
  assert.deepEqual([withheld.status, withheld.error_code], ['failed', 'network']);
  assert.match(withheld.error_message ?? '', /withheld: it can't be searched/);
  assert.ok(!withheld.runs.includes('base64'));
  assert.equal((await run({ 'x-a': 'plain' })).status, 'completed');
});

test('what a reference brings in is never read as a template, and only requests resolve secrets', async () => {
  const { live } = await workspace();
  await made(live, 'secrets.create', { name: 'TOKEN', value: VALUE });
  const definition = definitionOf(
    {
      t: [
        'transform',
        { fields: { a: '{{secret:TOKEN}}', b: '{{trigger.data.text}}', c: '{{trigger.data.text|trim|default("{{secret:TOKEN}}")}}' } },
      ],
      a: request({ headers: { 'x-a': '{{trigger.data.text}}', 'x-t': '{{t.a}}' }, body: { b: '{{t.b}}', c: '{{t.c}}' } }),
    },
    ['trigger>t', 't>a'],
  );
  seen.length = 0;
  const id = await started(live, await stored(live, definition), { text: '{{secret:TOKEN}}' });
  assert.equal((await ended(id)).status, 'completed');
  assert.deepEqual([seen[0]?.headers['x-a'], seen[0]?.headers['x-t']], ['{{secret:TOKEN}}', '[secret:TOKEN]']);
  assert.ok(!JSON.stringify(seen).includes('3f9a/+value'), 'nothing was opened');
});

test('a secret that is missing, of the other space, or pinned to other hosts fails the node, and nothing is sent', async () => {
  const w = await workspace();
  await made(w.test, 'secrets.create', { name: 'ONLY_TEST', value: VALUE });
  await made(w.live, 'secrets.create', { name: 'PINNED', value: VALUE, allowed_hosts: ['api.example.com'] });
  for (const [name, code] of [
    ['NOBODY', 'secret_unresolved'],
    ['ONLY_TEST', 'secret_unresolved'],
    ['PINNED', 'secret_forbidden'],
  ] as const) {
    seen.length = 0;
    const id = await started(
      w.live,
      await stored(w.live, definitionOf({ a: request({ headers: { 'x-a': `{{secret:${name}}}` } }) }, ['trigger>a'])),
    );
    assert.deepEqual(
      [(await ended(id)).error_code, seen.length, (await executionOf(id)).error_message?.includes('3f9a/+value')],
      [code, 0, false],
      name,
    );
  }
});

test('the test of one node shows the request without the value, and stores nothing', async () => {
  const { live } = await workspace();
  await made(live, 'secrets.create', { name: 'TOKEN', value: VALUE });
  const definition = definitionOf(
    {
      a: request({ headers: { authorization: '{{secret:TOKEN}}' }, body: { n: '{{trigger.data.n}}' } }),
      mail: ['email', { to: 'x@example.com', subject: 's', text: 't' }],
    },
    ['trigger>a', 'a>mail'],
  );
  const workflow = { id: (await stored(live, definition)).id, environment: null };
  const own = { email: 'me@example.com', phone: null };
  const done = await testNode(live, { workflow, definition, node_id: 'a', context: { trigger: { data: { n: 2 } } }, own });
  assert.deepEqual([done.status, done.request?.headers.authorization, done.request?.body], ['succeeded', '[secret:TOKEN]', '{"n":2}']);
  assert.ok(!JSON.stringify(done).includes('3f9a/+value'));
  const mailed = await testNode(live, { workflow, definition, node_id: 'mail', own });
  assert.deepEqual(mailed.output, { message_id: (mailed.output as { message_id: string }).message_id, accepted: ['me@example.com'] });
  assert.equal(await db().workflow_executions.count({ where: { workflow_id: workflow.id } }), 0);
  await assert.rejects(testNode(live, { workflow, definition, node_id: 'none', own }), { type: 'not_found' });
});
