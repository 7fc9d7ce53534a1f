import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import * as ops from '#server/domain/wrap/operations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { controlSocketPath } from '#server/platform/gateway-control.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeSecret } from '../gateway.fixture.ts';
import { makeWrapped, startApi, startTlsUpstream } from './ephemeral.fixture.ts';

await testDatabase();
const running = await startApi();
await running.controlSocket.listen(controlSocketPath());
const HOST = 'api.upstream.example';
const SECRET = 'provider-key-that-nobody-sees';
const upstream = await startTlsUpstream([HOST], (req, res, body) => {
  res.writeHead(200, { 'content-type': 'text/plain', 'x-echo': String(req.headers.authorization) });
  res.end(`${req.headers.authorization} ${Buffer.from(String(req.headers.authorization)).toString('base64')} ${body}`);
});

async function person() {
  const w = await workspace();
  await makeWrapped(w, 'PROVIDER', SECRET, [HOST]);
  await makeSecret(w, 'PINNED', { production: 'pinned-value-of-a-secret' }, { allowed_hosts: [HOST] });
  await makeSecret(w, 'LOOSE', { production: 'loose-value' });
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
  const tried = async (input: Record<string, unknown>, ctx: Ctx = w.member('editor')): Promise<any> =>
    (await execute(ops.testCall, { ...ctx, now: new Date() }, { url: `https://${HOST}/x`, ...input })).output;
  return { w, tried };
}
const JSON_TYPE = [{ name: 'Content-Type', value: 'application/json' }];

test('a dry run tells of every placeholder whether it resolves, opens nothing, sends nothing and is in no log', async () => {
  const { w, tried } = await person();
  const count = upstream.seen.length;
  const body = JSON.stringify({
    a: '{{ secret: PINNED }}',
    b: '{{ secret: LOOSE }}',
    c: '{{ encrypted | json: $.card.cvc }}',
    d: '{{ encrypted | json: $.nope }}',
    e: 'x {{ token: tok_1 }} y',
    f: '{{ other }}',
  });
  const ask = { method: 'POST', headers: [...JSON_TYPE, { name: 'X-Auth', value: '{{ secret: GONE }}' }], body, dry_run: true };
  const report = await tried({ ...ask, url: `https://${HOST}/x?q={{ token: tok_1 }}`, encrypted: '{"card":{"cvc":"123"}}' });
  assert.deepEqual(
    report.placeholders.map(({ place, expression, state }: Record<string, string>) => `${place}: ${expression} ${state}`),
    [
      'query: {{ token: tok_1 }} later',
      'x-auth: {{ secret: GONE }} fails',
      'body: {{ secret: PINNED }} resolves',
      'body: {{ secret: LOOSE }} fails',
      'body: {{ encrypted | json: $.card.cvc }} resolves',
      'body: {{ encrypted | json: $.nope }} fails',
      'body: {{ token: tok_1 }} later',
    ],
  );
  assert.ok(report.refusal && report.response === null);
  const text = JSON.stringify(report);
  for (const value of ['pinned-value', 'loose-value', '"123"', SECRET]) assert.ok(!text.includes(value), value);
  assert.equal((await tried({ ...ask, headers: JSON_TYPE, body: '{}' })).refusal, null);
  assert.equal((await tried({ ...ask, body: '{"a":"{{ token }}"}' })).refusal.code, 'validation_error');
  assert.equal((await tried({ url: 'https://127.0.0.1/', dry_run: true })).refusal.code, 'validation_error');
  assert.equal((await tried({ secret: 'LOOSE', dry_run: true })).refusal.code, 'credential_not_found');
  await running.flush();
  assert.equal(upstream.seen.length, count);
  assert.equal(await db().request_logs.count({ where: { tenant_id: w.tenant.id } }), 0);
});

test('a call that is sent arrives with the real key, and its person sees it masked in every spelling', async () => {
  const { w, tried } = await person();
  const report = await tried({ method: 'POST', secret: 'PROVIDER', headers: JSON_TYPE, body: '{"k":"{{ secret: PINNED }}"}' });
  assert.equal(upstream.seen.at(-1)?.headers.authorization, `Bearer ${SECRET}`);
  assert.equal(upstream.seen.at(-1)?.body, '{"k":"pinned-value-of-a-secret"}');
  assert.ok(!Object.keys(upstream.seen.at(-1)?.headers ?? {}).some((name) => name.startsWith('x-svc-')));
  assert.deepEqual([report.response.status, report.refusal], [200, null]);
  const text = JSON.stringify(report);
  for (const value of [SECRET, Buffer.from(`Bearer ${SECRET}`).toString('base64'), 'pinned-value']) assert.ok(!text.includes(value), value);
  assert.match(report.response.body, /\[redacted:secret:PROVIDER\]/);
  await running.flush();
  const [row] = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual([row?.proxy_mode, row?.identification_method, row?.request_id], ['test', 'dashboard_user', report.request_id]);
  const entry = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, action: 'execute' } });
  assert.equal((entry.details as { upstream_host: string }).upstream_host, HOST);
});

test('no person opens a vault token or sets a header of ours', async () => {
  const { w, tried } = await person();
  const count = upstream.seen.length;
  const body = '{"a":"{{ token: tok_1 }}"}';
  assert.equal((await tried({ method: 'POST', headers: JSON_TYPE, body }, w.member('owner'))).refusal.code, 'forbidden');
  const forged = [
    { name: 'X-Svc-Upstream-Authorization', value: 'Bearer x' },
    { name: 'Host', value: 'evil.example' },
  ];
  assert.equal(upstream.seen.length, count);
  const report = await tried({ headers: forged });
  assert.equal(report.response.status, 200);
  assert.deepEqual([upstream.seen.at(-1)?.headers.authorization, upstream.seen.at(-1)?.headers.host], [undefined, HOST]);
});
