import assert from 'node:assert/strict';
import test from 'node:test';
import { parseCapability } from '#server/crypto/capability-tokens.ts';
import { digest } from '#server/crypto/tokens.ts';
import { isSigned, resignCapabilities } from '#server/custody/capabilities.ts';
import { rotateTenantKey } from '#server/domain/keys/service.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { endTokensOnOffboarding } from './offboarding.ts';

// Capability tokens (interface rule 50 §6).

await testDatabase();

const isRefusal = (type: string, message: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.type === type && message.test(error.message);

async function furnished() {
  const w = await workspace();
  const gateway = await made(w.live, 'ai_gateways.create', { name: 'G', slug: fresh('g') });
  const agent = await made(w.live, 'ai_gateways.agents.create', { id: gateway.id, name: 'A', slug: fresh('a') });
  const mint = (input: object = {}) => made(w.live, 'ai_gateways.agents.tokens.create', { id: agent.id, ...input });
  const row = (id: string) => db().ai_tokens.findUniqueOrThrow({ where: { id } });
  return { w, gateway, agent, mint, row };
}
const secondsLeft = ({ expires_at }: { expires_at: string }) => Math.round((Date.parse(expires_at) - Date.now()) / 1_000);
const isAbout = (actual: number, expected: number) => Math.abs(actual - expected) < 30;

test('a minted token parses, is signed, and is stored as its hash alone', async () => {
  const { w, agent, gateway, mint, row } = await furnished();
  const scope = { models: ['claude-sonnet-5'], ip_cidrs: ['203.0.113.9/24', '203.0.113.0/24'], daily_usd_cap: 5 };
  const made1 = await mint({ name: 'worker', scope });
  assert.deepEqual(parseCapability(made1.token), { env: 'live', kind: 'agent' });
  assert.deepEqual(made1.scope, { models: ['claude-sonnet-5'], ip_cidrs: ['203.0.113.0/24'], daily_usd_cap: '5.00' });
  assert.deepEqual([made1.agent_id, made1.gateway_id, made1.prefix], [agent.id, gateway.id, made1.token.slice(0, 16)]);
  const stored = await row(made1.id);
  assert.deepEqual(Buffer.from(stored.token_hash), digest(made1.token));
  assert.equal(await isSigned(stored), true);
  const { rows } = await sql().query<{ text: string }>(
    'select row_to_json(t)::text || row_to_json(a)::text as text from ai_tokens t, audit_logs a where t.id = $1 and a.resource_id = $2',
    [made1.id, made1.id],
  );
  assert.ok(rows.length > 0 && rows.every(({ text }) => !text.includes(made1.token.slice(16))));
  const [listed] = await made(w.live, 'ai_gateways.agents.tokens.list', { id: agent.id });
  assert.ok(!('token' in listed) && !('token_hash' in listed) && !('capability_hmac' in listed));
  assert.deepEqual([listed.id, listed.origin, listed.step_up_required], [made1.id, 'minted', false]);
});

test('lifetimes are clamped and not refused, and two spellings of one are', async () => {
  const { mint } = await furnished();
  const cases: [object, number][] = [
    [{}, 2_592_000],
    [{ kind: 'oneshot' }, 3_600],
    [{ expires_in_seconds: 1 }, 60],
    [{ expires_in_seconds: -5 }, 60],
    [{ expires_in_seconds: 1e9 }, 7_776_000],
    [{ expires_at: new Date(Date.now() + 7_200_000).toISOString() }, 7_200],
    [{ expires_at: '2001-01-01T00:00:00Z' }, 60],
  ];
  for (const [input, seconds] of cases) assert.ok(isAbout(secondsLeft(await mint(input)), seconds), JSON.stringify(input));
  const both = { expires_in_seconds: 60, expires_at: new Date().toISOString() };
  await assert.rejects(mint(both), isRefusal('validation_error', /^expires_at: must not be sent with/));
});

test('DPoP needs both of its fields, a resource a tool token, and unknown members of a scope are refused', async () => {
  const { w, gateway, mint } = await furnished();
  const dpop_jkt = 'A'.repeat(43);
  await assert.rejects(mint({ dpop_required: true }), isRefusal('validation_error', /^dpop_jkt: is required/));
  await assert.rejects(mint({ dpop_jkt }), isRefusal('validation_error', /^dpop_required: /));
  assert.equal((await mint({ dpop_required: true, dpop_jkt })).dpop_jkt, dpop_jkt);
  const resource = 'https://acme.example.com/v1/mcp/tickets';
  await assert.rejects(mint({ scope: { resource } }), isRefusal('validation_error', /^scope\.resource: /));
  assert.equal((await mint({ kind: 'tool', scope: { resource } })).scope.resource, resource);
  for (const scope of [
    { everything: true },
    { operations: ['fly'] },
    { valid_window: { from: '09:00' } },
    { valid_window: { tz: 'Mars/Base' } },
    { ip_cidrs: ['10.0.0.0/40'] },
  ])
    await assert.rejects(mint({ scope }), isRefusal('validation_error', /^scope/), JSON.stringify(scope));
  const tool = await made(w.live, 'ai_gateways.tokens.create', { id: gateway.id });
  assert.deepEqual([tool.kind, tool.agent_id], ['tool', null]);
  await assert.rejects(
    made(w.live, 'ai_gateways.tokens.create', { id: gateway.id, kind: 'agent' }),
    isRefusal('validation_error', /^kind/),
  );
});

test('a row that was changed by SQL does not hold its signature, and neither does one whose flag was cleared', async () => {
  const { w, agent, mint, row } = await furnished();
  const changes = [
    "scope_jsonb = '{}'",
    "expires_at = expires_at + interval '1 year'",
    "kind = 'tool', agent_id = null",
    "dpop_jkt = repeat('A', 43)",
    'token_hash = sha256(token_hash)',
  ];
  for (const change of changes) {
    const { id } = await mint({ scope: { daily_token_cap: 5 } });
    await sql().query(`update ai_tokens set ${change} where id = $1`, [id]);
    assert.equal(await isSigned(await row(id)), false, change);
    if (!change.startsWith('kind'))
      await assert.rejects(
        made(w.live, 'ai_gateways.agents.tokens.rotate', { id: agent.id, token_id: id }),
        isRefusal('conflict', /signature|expired/),
      );
  }
  const { id } = await mint();
  await made(w.live, 'ai_gateways.agents.tokens.delete', { id: agent.id, token_id: id });
  await sql().query('update ai_tokens set revoked_at = null where id = $1', [id]);
  assert.equal(await isSigned(await row(id)), false, 'a revoked token stays so');
});

test('revoking is idempotent, and tokens of one agent or gateway are not found under another', async () => {
  const { w, gateway, agent, mint } = await furnished();
  const other = await made(w.live, 'ai_gateways.agents.create', { id: gateway.id, name: 'B', slug: fresh('b') });
  const { id } = await mint();
  await assert.rejects(made(w.live, 'ai_gateways.agents.tokens.delete', { id: other.id, token_id: id }), isRefusal('not_found', /./));
  for (const _ of [1, 2])
    assert.deepEqual(await made(w.live, 'ai_gateways.tokens.delete', { id: gateway.id, token_id: id }), {
      deleted: true,
      id,
      revoked: true,
    });
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, resource_id: id, action: 'revoke' } }), 1);
  const active = await made(w.live, 'ai_gateways.agents.tokens.list', { id: agent.id, active: true });
  assert.ok(!active.some((one: { id: string }) => one.id === id));
  await assert.rejects(
    made(w.live, 'ai_gateways.agents.tokens.rotate', { id: agent.id, token_id: id }),
    isRefusal('conflict', /was revoked/),
  );
  await made(w.live, 'ai_gateways.agents.delete', { id: agent.id });
  await assert.rejects(mint(), isRefusal('not_found', /./), 'an archived agent has no new tokens');
});

test('a successor has the original lifetime, and the old token ends after the grace', async () => {
  const { w, agent, mint, row } = await furnished();
  const old = await mint({ expires_in_seconds: 600, scope: { rpm: 5 }, name: 'n' });
  const next = await made(w.live, 'ai_gateways.agents.tokens.rotate', { id: agent.id, token_id: old.id, grace_seconds: 60 });
  assert.deepEqual([next.rotated_from, next.scope, next.name, isAbout(secondsLeft(next), 600)], [old.id, { rpm: 5 }, 'n', true]);
  const ended = await row(old.id);
  assert.ok(isAbout((ended.expires_at.getTime() - Date.now()) / 1_000, 60));
  assert.equal(await isSigned(ended), true, 'signed for its new end');
  const oneshot = await mint({ kind: 'oneshot' });
  await assert.rejects(
    made(w.live, 'ai_gateways.agents.tokens.rotate', { id: agent.id, token_id: oneshot.id }),
    isRefusal('conflict', /is used once/),
  );
});

test('after a rotation of the master key tokens are signed anew, but for a row that was changed', async () => {
  const { w, mint, row } = await furnished();
  const [good, bad, gone] = [await mint(), await mint(), await mint({ kind: 'oneshot' })];
  await sql().query('update ai_tokens set scope_jsonb = \'{"rpm": 1}\' where id = $1', [bad.id]);
  await sql().query("update ai_tokens set oneshot_consumed_at = now(), capability_hmac = '' where id = $1", [gone.id]);
  await rotateTenantKey(w.member('owner'));
  const { version } = await db().tenant_master_keys.findFirstOrThrow({ where: { tenant_id: w.tenant.id, status: 'active' } });
  const result = await resignCapabilities(w.tenant.id, version, '00000000-0000-0000-0000-000000000000', 100);
  assert.deepEqual(result, { moved: 1, refused: 1, after: undefined });
  const [signed, left] = [await row(good.id), await row(bad.id)];
  assert.deepEqual([signed.hmac_key_version, await isSigned(signed)], [version, true]);
  assert.deepEqual([left.hmac_key_version === version, await isSigned(left)], [false, false]);
});

test('what a person minted ends when they leave, unless the workspace says otherwise', async () => {
  const { w, mint, row } = await furnished();
  const { id } = await mint();
  const user = crypto.randomUUID();
  await sql().query('update ai_tokens set created_by = $2 where id = $1', [id, user]);
  const leave = () => db().$transaction((tx) => endTokensOnOffboarding(tx, w.live, user));
  await sql().query(`update tenants set settings = '{"revoke_on_offboarding": false}' where id = $1`, [w.tenant.id]);
  assert.deepEqual(await leave(), {});
  assert.equal((await row(id)).revoked_at, null);
  await sql().query("update tenants set settings = '{}' where id = $1", [w.tenant.id]);
  assert.deepEqual(await leave(), { ai_tokens: 1 });
  assert.notEqual((await row(id)).revoked_at, null);
});
