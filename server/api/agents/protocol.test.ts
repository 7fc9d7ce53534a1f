import assert from 'node:assert/strict';
import test from 'node:test';
import { knowBuild } from '#server/domain/agents/builds.ts';
import { sendCommand } from '#server/domain/agents/commands.ts';
import { tellConnectivity } from '#server/domain/agents/connectivity.ts';
import { SendCommand, UpdateAgent } from '#server/domain/agents/schema.ts';
import { resetFingerprint, revokeAgent, rotateAgentSecret, updateAgent } from '#server/domain/agents/service.ts';
import { addressOf } from '#server/domain/secret-shares/samples.fixture.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh } from '#server/testing/factories.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { workspace } from '#server/testing/workspace.ts';
import { agent, ask, BEAT, hostOf, installToken, openSession, signed, withToken } from './agents.fixture.ts';

await ownDatabase();

const w = await workspace();
const live = () => ({ ...w.live, now: new Date(), warnings: [] });
const minutes = (n: number) => new Date(Date.now() + n * 60_000);

test('of two enrolments with one install token one wins, and the secret of before dies', async () => {
  const a = await agent(live());
  const token = await installToken(live(), a.id);
  const both = await Promise.all(
    ['host-a', 'host-b'].map((name) => ask('POST', '/agent/v1/enroll', { token, build_sig: '', ...hostOf(name) })),
  );
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401]);
  const won = both.find(({ status }) => status === 200)!.body;
  assert.match(won.agent_secret, /^svc_as_[\w-]{43}$/);
  assert.match(won.control_plane_key, /^-----BEGIN PUBLIC KEY-----/);
  assert.equal((await openSession(a)).body.error.type, 'invalid_signature', 'the first secret');
  const host = both[0]!.status === 200 ? 'host-a' : 'host-b';
  assert.equal((await openSession({ ...a, agent_secret: won.agent_secret }, host)).status, 200);
  const used = await db().audit_logs.findFirst({
    where: { tenant_id: w.tenant.id, resource_type: 'agent_install_token', action: 'execute' },
  });
  assert.ok(used);
  assert.ok(!JSON.stringify(used.details).includes(token));
});

test('unknown, used, revoked and expired install tokens are one answer', async () => {
  const a = await agent(live());
  const [expired, revoked] = [await installToken(live(), a.id), await installToken(live(), a.id)];
  await db().agent_install_tokens.updateMany({ where: { agent_id: a.id, prefix: revoked.slice(0, 12) }, data: { revoked_at: new Date() } });
  const tries = [
    { token: 'svc_ait_unknown', now: new Date() },
    { token: revoked, now: new Date() },
    { token: expired, now: minutes(16) },
  ];
  for (const { token, now } of tries) {
    const { status, body } = await ask('POST', '/agent/v1/enroll', { token, build_sig: '', ...hostOf('h') }, { now });
    assert.deepEqual([status, body.error.type], [401, 'invalid_token']);
    assert.match(body.error.message, /unknown, used, or has expired/);
  }
});

test('a replayed request, a skewed clock, a wrong signature and a stranger are refused', async () => {
  const a = await agent(live());
  const nonce = 'ab'.repeat(16);
  assert.equal((await openSession(a, 'host-a', {}, { nonce })).status, 200);
  const again = await openSession(a, 'host-a', {}, { nonce });
  assert.deepEqual([again.status, again.body.error.type], [401, 'nonce_replayed']);
  for (const seconds of [-125, 125]) {
    const skewed = await openSession(a, 'host-a', {}, { timestamp: String(Math.floor(Date.now() / 1000) + seconds) });
    assert.deepEqual([skewed.status, skewed.body.error.type], [401, 'clock_skew']);
    assert.ok(skewed.headers.get('date'));
  }
  const wrong = await openSession(a, 'host-a', {}, { signature: '00'.repeat(32) });
  const stranger = await openSession({ ...a, agent_id: `svc_agent_${'x'.repeat(22)}` });
  for (const one of [wrong, stranger])
    assert.deepEqual([one.status, one.body.error.type, one.body.error.message], [401, 'invalid_signature', wrong.body.error.message]);
  const body = { ...hostOf('host-a'), build_sig: '', mode: 'control' };
  const moved = await signed(a, '/agent/v1/migrations/x/items', body, { headers: {} });
  assert.notEqual(moved.status, 200);
  assert.equal((await openSession(a, 'host-a', {}, { space: 'test' })).body.error.type, 'wrong_tenant');
});

test('a second machine is refused and told of, and allowed after a reset', async () => {
  const owner = await addressOf(w.member('owner', 'live'));
  const a = await agent(live());
  assert.equal((await openSession(a, 'host-a')).status, 200);
  const refused = await openSession(a, 'host-b');
  assert.deepEqual([refused.status, refused.body.error.type], [403, 'fingerprint_mismatch']);
  const events = await db().agent_tamper_events.findMany({ where: { agent_id: a.id } });
  assert.deepEqual(events.map(({ kind, action_taken }) => [kind, action_taken]).sort(), [
    ['fingerprint_mismatch', 'refused'],
    ['unknown_build', 'alerted'],
  ]);
  const mails = await mailsTo(owner);
  assert.ok(mails.some(({ kind }) => kind === 'agent_fingerprint_mismatch'));
  assert.ok(mails.some(({ kind }) => kind === 'agent_minted'));
  assert.ok(!JSON.stringify(mails).includes(a.agent_secret));
  await resetFingerprint(live(), { id: a.id });
  assert.equal((await openSession(a, 'host-b')).status, 200);
  assert.equal((await openSession(a, 'host-a')).body.error.type, 'fingerprint_mismatch');
});

test('an unknown build is told of; where a known one is required it gets no session', async () => {
  const a = await agent(live());
  assert.equal((await openSession(a)).status, 200);
  await updateAgent(live(), UpdateAgent.parse({ id: a.id, require_verified_build: true }));
  const refused = await openSession(a);
  assert.deepEqual([refused.status, refused.body.error.type], [403, 'unverified_build']);
  const seal = await knowBuild({ version: '1.0.0', os: 'any', arch: 'any', sha256: 'cd'.repeat(32) });
  assert.equal(
    await knowBuild({ version: '1.0.0', os: 'any', arch: 'any', sha256: 'cd'.repeat(32) }),
    seal,
    'registering twice is one build',
  );
  assert.equal((await openSession(a, 'host-a', { build_sig: seal })).status, 200);
  assert.equal((await openSession(a, 'host-a', { build_sig: seal, version: '1.0.1' })).body.error.type, 'unverified_build');
  assert.equal((await db().agents.findUniqueOrThrow({ where: { id: a.id } })).build_verified, true);
});

test('an address outside of the allowed ranges gets nothing', async () => {
  const a = await agent(live(), 'control', { allowed_cidrs: ['198.51.100.0/24'] });
  assert.equal((await openSession(a)).body.error.type, 'source_not_allowed');
  assert.equal((await openSession(a, 'host-a', {}, { ip: '198.51.100.7' })).status, 200);
});

test('commands reach the agent once, and their results stay free of values', async () => {
  const a = await agent(live());
  const { session_token } = (await openSession(a)).body;
  const headers = withToken(a, session_token);
  const { id } = await sendCommand(live(), SendCommand.parse({ id: a.id, command: 'scan', args: { paths: ['/etc'] } }));
  const first = await ask('POST', '/agent/v1/heartbeat', BEAT, { headers });
  assert.equal(first.status, 200, JSON.stringify(first.body));
  assert.deepEqual(first.body.commands, [{ id, command: 'scan', args: { paths: ['/etc'] } }]);
  assert.deepEqual((await ask('POST', '/agent/v1/heartbeat', BEAT, { headers })).body.commands, []);
  const finding = { host: 'host-a', path: '/etc/app.env', kind: 'stripe', first4: 'sk_l', sha256_prefix: '07ff7642' };
  const leaking = await ask(
    'POST',
    `/agent/v1/commands/${id}/result`,
    { ok: true, output: { findings: [{ ...finding, value: 'sk_live_x' }] } },
    { headers },
  );
  assert.equal(leaking.status, 400);
  assert.ok(!JSON.stringify(leaking.body).includes('sk_live_x'));
  assert.equal(
    (await ask('POST', `/agent/v1/commands/${id}/result`, { ok: true, output: { findings: [finding] } }, { headers })).status,
    200,
  );
  assert.equal((await ask('POST', `/agent/v1/commands/${id}/result`, { ok: true }, { headers })).status, 409);
  const other = await agent(live());
  const foreign = withToken(other, (await openSession(other)).body.session_token);
  assert.equal((await ask('POST', `/agent/v1/commands/${id}/result`, { ok: true }, { headers: foreign })).status, 404);
  assert.equal(
    (await ask('POST', '/agent/v1/heartbeat', BEAT, { headers: withToken(other, session_token) })).body.error.type,
    'invalid_token',
  );
});

test('a revoked agent is stopped by its next heartbeat, manifest and session, and its token by each other agent', async () => {
  const a = await agent(live());
  const { session_token } = (await openSession(a)).body;
  const headers = withToken(a, session_token);
  assert.equal((await ask('GET', '/agent/v1/manifest', undefined, { headers })).status, 200);
  await revokeAgent(live(), { id: a.id });
  for (const answer of [
    await ask('POST', '/agent/v1/heartbeat', BEAT, { headers }),
    await ask('GET', '/agent/v1/manifest', undefined, { headers }),
    await openSession(a),
  ])
    assert.deepEqual([answer.status, answer.body.error.type, answer.body.revoked], [401, 'agent_revoked', true]);
});

test('an old secret is good for its grace, and then no more', async () => {
  const a = await agent(live());
  assert.equal((await openSession(a)).status, 200);
  const { agent_secret } = await rotateAgentSecret(live(), { id: a.id, grace_minutes: 30 });
  assert.equal((await openSession(a)).status, 200);
  assert.equal((await openSession({ ...a, agent_secret })).status, 200);
  assert.equal((await openSession(a, 'host-a', {}, { now: minutes(31) })).body.error.type, 'invalid_signature');
  const last = await rotateAgentSecret(live(), { id: a.id, grace_minutes: 0 });
  assert.equal((await openSession({ ...a, agent_secret })).body.error.type, 'invalid_signature');
  assert.equal((await openSession({ ...a, agent_secret: last.agent_secret })).status, 200);
});

test('sessions are limited to twelve an hour', async () => {
  const a = await agent(live());
  const now = new Date();
  for (let i = 0; i < 12; i++) assert.equal((await openSession(a, 'host-a', {}, { now })).status, 200);
  const refused = await openSession(a, 'host-a', {}, { now });
  assert.deepEqual([refused.status, refused.body.error.type], [429, 'rate_limit_exceeded']);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});

test('without the plan there is no session, but Test has one agent', async () => {
  const free = await workspace({ plan: 'free' });
  const a = await agent({ ...free.test, now: new Date(), warnings: [] });
  assert.equal((await openSession(a, 'host-a', {}, { space: 'test' })).status, 200);
  await assert.rejects(agent({ ...free.test, now: new Date(), warnings: [] }), { type: 'plan_limit' });
  const paying = await workspace({ plan: 'pro' });
  const b = await agent(paying.live);
  await db().tenants.update({ where: { id: paying.tenant.id }, data: { subscription_plan: 'free' } });
  const refused = await openSession(b);
  assert.deepEqual([refused.status, refused.body.error.type], [402, 'plan_feature']);
});

test('an agent is told of when it comes and when it falls silent', async () => {
  const receiver = await workspace();
  const a = await agent(receiver.live);
  await db().event_subscriptions.create({
    data: {
      id: crypto.randomUUID(),
      tenant_id: receiver.tenant.id,
      sandbox: false,
      channel: 'webhook',
      destination_id: crypto.randomUUID(),
      event_types: ['agent.online', 'agent.offline'],
    },
  });
  const headers = withToken(a, (await openSession(a)).body.session_token);
  await ask('POST', '/agent/v1/heartbeat', BEAT, { headers });
  await ask('POST', '/agent/v1/heartbeat', BEAT, { headers });
  await tellConnectivity(db(), minutes(10));
  assert.ok((await tellConnectivity(db(), minutes(16))) >= 1);
  assert.equal(await tellConnectivity(db(), minutes(17)), 0);
  const events = await db().events.findMany({
    where: { tenant_id: receiver.tenant.id, source_id: a.id, type: { not: 'agent.tamper_detected' } },
    orderBy: { occurred_at: 'asc' },
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['agent.online', 'agent.offline'],
  );
});

test('rows of calls go into the log of the agent’s workspace, without queries and without routes of others', async () => {
  const a = await agent(live());
  const headers = withToken(a, (await openSession(a)).body.session_token);
  const row = { at: new Date().toISOString(), method: 'GET', host: 'api.example.com', path: '/x?key=hidden', status: 200, duration_ms: 12 };
  const rows = [row, { ...row, route_id: crypto.randomUUID() }, { ...row, at: new Date(Date.now() - 90_000_000).toISOString() }];
  assert.deepEqual((await ask('POST', '/agent/v1/logs', { rows }, { headers })).body, { accepted: 2 });
  const stored = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id, node_id: a.agent_id } });
  assert.deepEqual(
    stored.map(({ path, route_id, identification_method }) => [path, route_id, identification_method]),
    [
      ['/x', null, 'agent'],
      ['/x', null, 'agent'],
    ],
  );
  assert.equal((await ask('POST', '/agent/v1/logs', { rows: Array.from({ length: 501 }, () => row) }, { headers })).status, 400);
});

test('hostile requests are refused with the envelope and nothing of ours', async () => {
  for (const [method, path, body, status] of [
    ['GET', '/agent/v1', undefined, 404],
    ['GET', '/agent/v1/session', undefined, 405],
    ['POST', '/agent/v1/manifest', {}, 405],
    ['POST', '/agent/v1/constructor', {}, 404],
    ['POST', '/agent/v1/enroll', '{', 400],
    ['POST', '/agent/v1/enroll', {}, 400],
    ['POST', '/agent/v1/enroll', { token: fresh('x').repeat(50) }, 400],
    ['POST', '/agent/v1/session', {}, 401],
    ['POST', '/agent/v1/heartbeat', {}, 401],
    ['POST', '/agent/v1/enroll', `{"token":"${'x'.repeat(70_000)}"}`, 413],
  ] as const) {
    const answer = await ask(method, path, body);
    assert.equal(answer.status, status, `${method} ${path}`);
    assert.ok(answer.body.error.type && answer.body.error.message, path);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  }
});
