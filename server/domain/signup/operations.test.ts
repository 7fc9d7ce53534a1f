import assert from 'node:assert/strict';
import test from 'node:test';
import { useMagicLink } from '#server/domain/signup/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { statusOf } from '#server/kernel/operation.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { claim, signup } from './operations.ts';

await testDatabase({ SIGNUPS_PER_HOUR: '12' });

let network = 0;
const anybody = (now = new Date()): Ctx => ({
  db: db(),
  tenant_id: '',
  sandbox: false,
  actor: { type: 'anonymous', id: null, label: 'anonymous', capabilities: new Set() },
  plan: 'free',
  request_id: crypto.randomUUID(),
  ip: `192.0.2.${++network}`,
  user_agent: 'agent',
  now,
  warnings: [],
});
const visitor = (): PersonCtx => ({
  db: db(),
  session: null,
  user: null,
  request_id: crypto.randomUUID(),
  ip: '198.51.100.1',
  user_agent: 'b',
  host: null,
  relayed: false,
  signup_handle: null,
  device: null,
  now: new Date(),
  changes: [],
  cookies: {},
});

const start = async (body: Record<string, unknown>, ctx = anybody()) =>
  signup.output.parse(await signup.run(ctx, signup.input.parse(body), []));
const collect = async (handle: string, ctx = anybody()) =>
  claim.output.parse(await claim.run(ctx, claim.input.parse({ claim_handle: handle }), []));
const linkOf = async (email: string) => {
  const mail = (await mailsTo(email)).at(-1);
  return /token=([\w-]{43})/.exec(mail?.text ?? '')?.[1] ?? '';
};

test('a machine signs up, a person uses the link, and the machine collects the workspace and its key exactly once', async () => {
  const pending = await start({ email: 'Ops@Example.test', tenant_name: 'Übung & Co', country: 'nz' });
  assert.deepEqual([pending.status, pending.claim_path, pending.poll_after_seconds], ['pending', '/v1/signup/claim', 5]);
  assert.match(pending.claim_handle, /^sck_[\w-]{43}$/);
  assert.doesNotMatch(JSON.stringify({ ...pending, claim_handle: '' }), /tk_|ses_|token/);

  const waiting = await collect(pending.claim_handle);
  assert.equal(waiting.status, 'pending');
  assert.equal(statusOf(claim, waiting), 202);

  await useMagicLink(visitor(), { token: await linkOf('ops@example.test') });
  const both = await Promise.allSettled([collect(pending.claim_handle), collect(pending.claim_handle)]);
  const [won, lost] = both[0].status === 'fulfilled' ? [both[0], both[1]] : [both[1], both[0]];
  assert.equal(lost.status === 'rejected' && lost.reason.type, 'claim_already_collected');
  assert.ok(won.status === 'fulfilled' && won.value.status === 'ready');
  const { tenant, starter, sandbox } = won.value;
  assert.equal(statusOf(claim, won.value), 200);
  assert.deepEqual([tenant.slug, tenant.region, tenant.plan], ['ubung-co', 'au', 'enterprise']);
  assert.deepEqual([starter.route?.name, starter.api_key.key_type], ['echo', 'test']);
  assert.equal(starter.curl, `curl -sS http://localhost:4003/p/sandbox-ubung-co/echo/hello -H 'X-Svc-Key: ${starter.api_key.api_key}'`);
  assert.equal(sandbox.management_api, 'http://localhost:4001/v1');

  const rows = await db().api_keys.findMany({ where: { tenant_id: tenant.id } });
  assert.deepEqual(
    rows.map((r) => [r.sandbox, r.role_ids]),
    [[true, ['00000000-0000-4000-8000-000000000104']]],
  );
  const audit = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: tenant.id, resource_type: 'api_key' } });
  assert.equal((audit.details as { via: string }).via, 'signup');
  assert.doesNotMatch(JSON.stringify(audit.details), /tk_test_\w+_\w{40}/);
  await assert.rejects(collect(pending.claim_handle), { type: 'claim_already_collected', status: 409 });
});

test('known and unknown addresses get the same shape, and the claim of a known one stays pending for ever', async () => {
  const known = await start({ email: 'ops@example.test', tenant_name: 'Again' });
  const fresh = await start({ email: 'new@example.test', tenant_name: 'Again' });
  const shape = (v: typeof known) => ({ ...v, claim_handle: v.claim_handle.length, expires_at: '' });
  assert.deepEqual(shape(known), shape(fresh));
  await useMagicLink(visitor(), { token: await linkOf('ops@example.test') });
  assert.equal((await collect(known.claim_handle)).status, 'pending');
  assert.equal(await db().tenants.count({ where: { name: 'Again' } }), 0);
});

test('unknown, malformed and expired handles are one answer', async () => {
  const { claim_handle } = await start({ email: 'late@example.test', tenant_name: 'Late' });
  await backgroundSettled();
  const tomorrow = new Date(Date.now() + 24 * 3_600_000 + 1_000);
  const messages = await Promise.all(
    [collect(claim_handle, anybody(tomorrow)), collect(`sck_${'A'.repeat(43)}`), collect('nonsense')].map((p) =>
      p.then(
        () => 'answered',
        (e: Error & { type: string }) => `${e.type}: ${e.message}`,
      ),
    ),
  );
  assert.deepEqual(new Set(messages), new Set(['not_found: This claim handle is unknown or has expired.']));
  await assert.rejects(useMagicLink({ ...visitor(), now: tomorrow }, { token: await linkOf('late@example.test') }), {
    type: 'mfa_code_invalid',
  });
});

test('a taken slug is no error but gets a number, so that sign-up reveals no workspace', async () => {
  const { claim_handle } = await start({ email: 'slug@example.test', tenant_name: 'X', tenant_slug: 'ubung-co' });
  await useMagicLink(visitor(), { token: await linkOf('slug@example.test') });
  const ready = await collect(claim_handle);
  assert.equal(ready.status === 'ready' && ready.tenant.slug, 'ubung-co-2');
});

test('polling faster than one in two seconds for a minute is told to slow down', async () => {
  const { claim_handle } = await start({ email: 'poll@example.test', tenant_name: 'Poll' });
  const ctx = anybody();
  for (let i = 0; i < 30; i++) await collect(claim_handle, { ...ctx, ip: `203.0.113.${i}` });
  await assert.rejects(collect(claim_handle, ctx), { type: 'rate_limit_exceeded', status: 429 });
  await backgroundSettled();
});

test('a sign-up whose process died before the mail is mailed by the sweep, once', async () => {
  const { claim_handle } = await start({ email: 'crash@example.test', tenant_name: 'Crash' });
  await backgroundSettled();
  await db().mails.deleteMany({ where: { recipient: 'crash@example.test' } });
  await db().signup_claims.updateMany({ where: { email: 'crash@example.test' }, data: { token_digest: null } });
  const later = new Date(Date.now() + 120_000);
  await Promise.all([sweepKind('signup_claim', later), sweepKind('signup_claim', later)]);
  await backgroundSettled();
  assert.equal(await db().mails.count({ where: { recipient: 'crash@example.test' } }), 1);
  await useMagicLink(visitor(), { token: await linkOf('crash@example.test') });
  assert.equal((await collect(claim_handle)).status, 'ready');
});

test('above the cap of the installation nothing is done and the caller is told when to come back', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 12 }, (_, i) => start({ email: `cap${i}@example.test`, tenant_name: 'Cap' })),
  );
  const refused = results.filter((r) => r.status === 'rejected').map((r) => r.reason);
  assert.ok(refused.length > 0);
  for (const error of refused) assert.deepEqual([error.type, error.status, error.retryAfter > 0], ['dependency_unavailable', 503, true]);
  const claims = await db().signup_claims.count();
  assert.equal(claims, 12);
  await backgroundSettled();
});
