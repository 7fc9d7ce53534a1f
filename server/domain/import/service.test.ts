import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import * as ops from './operations.ts';

await testDatabase({ SVC_TEST_MODE: '1', SVC_EGRESS_TEST_HOSTS: 'api.upstream.test:443=127.0.0.1' });

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
const call = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>): Promise<any> => (await execute(op, ctx, input)).output;
const COMMAND = `curl https://api.upstream.test/v1/things -H 'Authorization: Bearer hunter2'`;

test('a pasted command becomes a working route and its sealed secret in one step', async () => {
  const { live } = await workspace();
  const { routes, secrets } = await call(ops.propose, live, { kind: 'curl', text: COMMAND });
  assert.deepEqual(
    [await db().routes.count({ where: { tenant_id: live.tenant_id } }), await db().secrets.count({ where: { tenant_id: live.tenant_id } })],
    [0, 0],
    'a proposal writes nothing',
  );
  const made = await call(ops.create, live, { routes, secrets: secrets.map(({ note: _, ...s }: { note: string }) => s) });
  assert.deepEqual(
    [made.routes[0].name, made.routes[0].target_base_url, made.secrets[0].name],
    ['Upstream', 'https://api.upstream.test', 'UPSTREAM_TOKEN'],
  );
  const [reference] = await db().secret_references.findMany({ where: { tenant_id: live.tenant_id } });
  assert.deepEqual(
    [reference?.secret_id, reference?.referrer_id, reference?.field_path],
    [made.secrets[0].id, made.routes[0].id, 'inject_headers_json.Authorization'],
  );
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: live.tenant_id, action: 'create' },
    orderBy: { seq: 'asc' },
    select: { resource_type: true, details: true },
  });
  assert.deepEqual(
    entries.map((e) => e.resource_type),
    ['secret', 'route'],
  );
  assert.doesNotMatch(JSON.stringify(entries), /hunter2/);
});

test('a proposal avoids names that exist', async () => {
  const { live } = await workspace();
  for (const [route, secret] of [
    ['Upstream', 'UPSTREAM_TOKEN'],
    ['Upstream 2', 'UPSTREAM_TOKEN_2'],
    ['Upstream 3', 'UPSTREAM_TOKEN_3'],
  ]) {
    const proposal = await call(ops.propose, live, { kind: 'curl', text: COMMAND });
    assert.deepEqual([proposal.routes[0].name, proposal.secrets[0].name], [route, secret]);
    await call(ops.create, live, proposal);
  }
});

test('an import that fails anywhere leaves nothing behind', async () => {
  const w = await workspace({ plan: 'free' });
  const secrets = [{ name: 'A', value: 'x' }];
  const route = (name: string, extra: object = {}) => ({ name, target_base_url: 'https://api.upstream.test', ...extra });
  await assert.rejects(
    call(ops.create, w.live, { secrets, routes: [route('a'), route('b', { inject_headers_json: { X: '{{secret:NOPE}}' } })] }),
    { type: 'validation_error' },
  );
  await assert.rejects(call(ops.create, w.live, { secrets, routes: [route('a'), route('a')] }), { type: 'conflict' });
  await assert.rejects(call(ops.create, w.live, { secrets, routes: [route('a', { target_base_url: 'https://10.0.0.1' })] }), {
    type: 'validation_error',
  });
  await assert.rejects(call(ops.create, w.live, { secrets, routes: Array.from({ length: 11 }, (_, i) => route(`r${i}`)) }), {
    type: 'plan_limit',
  });
  assert.deepEqual(
    [
      await db().routes.count({ where: { tenant_id: w.tenant.id } }),
      await db().secrets.count({ where: { tenant_id: w.tenant.id } }),
      await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }),
    ],
    [0, 0, 0],
  );
});

test('text that is nothing known is refused by name', async () => {
  const { live } = await workspace();
  await assert.rejects(call(ops.propose, live, { kind: 'curl', text: 'rm -rf /' }), /text: must start with curl/);
  await assert.rejects(call(ops.propose, live, { kind: 'curl', text: `curl ${'x'.repeat(70_000)}` }), { type: 'validation_error' });
  await assert.rejects(call(ops.propose, live, { kind: 'curl', text: 'curl https://a.example.com/?key=${hunter2' }), {
    type: 'validation_error',
    message: 'text: has an unclosed or empty ${}',
  });
  await assert.rejects(call(ops.propose, live, { kind: 'wget', text: 'x' }), { type: 'validation_error' });
});

test('who pasted one text that takes too long cannot follow it with others, and holds up nobody', async () => {
  const [greedy, other] = await Promise.all([workspace(), workspace()]);
  const text = `openapi: 3.1.0\nservers:\n  - url: https://a.example.com\n${'? '.repeat(400)}`;
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => call(ops.propose, greedy.live, { kind: 'openapi', text })));
  assert.deepEqual(
    answers.map((answer) => answer.status === 'rejected' && answer.reason.type),
    ['validation_error', ...Array(9).fill('rate_limited')],
  );
  await assert.rejects(call(ops.propose, greedy.live, { kind: 'openapi', text: 'openapi: 3.1.0' }), { type: 'rate_limited' });
  const honest = 'openapi: 3.1.0\nservers:\n  - url: https://api.upstream.test\n';
  assert.equal((await call(ops.propose, other.live, { kind: 'openapi', text: honest })).routes.length, 1);
});
