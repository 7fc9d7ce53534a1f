import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { perform } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { fresh, made, operationById } from '#server/testing/factories.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { verified } from '#server/testing/step-up.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { scanForOrphans } from './checks.ts';
import { answering, created, target } from './target.fixture.ts';
import { effectiveTtl } from './ttl.shared.ts';

await ownDatabase();
const server = await target();

async function arranged(ctx: Ctx, role: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  const connection = await created(ctx, { ...(await answering(ctx)), ...more });
  await made(ctx, 'dyn_db.create_role', { connection, name: 'reader', template: 'readonly', ...role });
  return { connection, role: 'reader' };
}
const exists = async (username: string) => (await server.query(`select 1 from pg_roles where rolname = '${username}'`)).rowCount === 1;
const leaseOf = (w: Workspace) => db().dyn_db_leases.findFirstOrThrow({ where: { tenant_id: w.tenant.id }, orderBy: { number: 'desc' } });
const later = (ms: number) => new Date(Date.now() + ms);

/** As whoever got the credential. */
async function asUser(user: { host: string; port: number; username: string; password: string; database_name: string }, text: string) {
  const { host, port, username, password, database_name: database } = user;
  const client = new pg.Client({ host, port, user: username, password, database, ssl: { rejectUnauthorized: false } });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

test('the lifetimes of the specification, and those of tokens and of Test', () => {
  const cases: [number, number, number | null, number | null, number | undefined, number][] = [
    [3600, 86_400, null, null, undefined, 3600],
    [3600, 86_400, null, null, 43_200, 43_200],
    [3600, 86_400, null, null, 172_800, 86_400],
    [3600, 86_400, null, 7200, 172_800, 7200],
    [3600, 86_400, 900, 900, undefined, 900],
    [3600, 86_400, 1800, null, 0, 1800],
    [3600, 86_400, 1800, null, -5, 1800],
    [3600, 600, null, null, undefined, 600],
  ];
  for (const [usual, most, roleUsual, roleMost, asked, expected] of cases) {
    const where = {
      connection: { default_ttl_seconds: usual, max_ttl_seconds: most },
      role: { default_ttl_seconds: roleUsual, max_ttl_seconds: roleMost },
    };
    assert.equal(effectiveTtl({ ...where, iam: false, sandbox: false }, asked), expected);
    assert.equal(effectiveTtl({ ...where, iam: true, sandbox: false }, asked), Math.min(expected, 900));
    assert.equal(effectiveTtl({ ...where, iam: false, sandbox: true }, asked), Math.min(expected, 3600));
  }
});

test('a minted user logs in, reads what its role allows and no more, and is gone with its lease', async () => {
  const w = await workspace();
  const events = await watchEvents(w.live, 'dyn_db.lease.expired');
  const credential = await made(w.live, 'dyn_db.mint', await arranged(w.live));
  assert.match(credential.username, /^svc_reader_[a-z2-7]{10}_[a-z0-9]{6}$/);
  assert.deepEqual(await asUser(credential, 'select id from orders'), [{ id: 1 }]);
  await assert.rejects(asUser(credential, 'delete from orders'), /permission denied/);
  const listed = (await made(w.live, 'dyn_db.list_leases', {})) as { leases: Record<string, unknown>[]; total: number };
  assert.deepEqual([listed.total, listed.leases[0]?.id, listed.leases[0]?.status], [1, credential.lease_id, 'active']);
  const stored = JSON.stringify(await db().dyn_db_leases.findMany({ where: { tenant_id: w.tenant.id } }));
  const audited = JSON.stringify(await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id } }), (_, v) =>
    typeof v === 'bigint' ? String(v) : v,
  );
  assert.ok(!stored.includes(credential.password) && !audited.includes(credential.password), 'the password is nowhere');
  assert.equal(await sweepKind('dyn_db_lease', new Date()), 0);
  await sweepKind('dyn_db_lease', new Date(new Date(credential.expires_at).getTime() + 1));
  assert.deepEqual([(await leaseOf(w)).status, await exists(credential.username)], ['expired', false]);
  await assert.rejects(asUser(credential, 'select 1'));
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, resource_type: 'dyn_db_lease' },
    orderBy: { seq: 'asc' },
  });
  assert.deepEqual(
    entries.map(({ action, actor_type }) => [action, actor_type]),
    [
      ['create', 'api_key'],
      ['delete', 'system'],
    ],
  );
  const told = await events();
  assert.deepEqual(
    told.map(({ about, data }) => [about, data.username]),
    [[(await leaseOf(w)).id, credential.username]],
  );
  assert.ok(!JSON.stringify(told).includes(credential.password));
  assert.equal((await made(w.live, 'dyn_db.list_leases', {})).total, 0);
});

test('revoking cuts the session of the user, and again changes nothing', async () => {
  const w = await workspace();
  const credential = await made(w.live, 'dyn_db.mint', await arranged(w.live));
  const { host, port, username: user, password, database_name: database } = credential;
  const client = new pg.Client({ host, port, user, password, database, ssl: { rejectUnauthorized: false } });
  const cut = new Promise((resolve) => client.on('error', resolve));
  await client.connect();
  const id = String(credential.lease_id);
  assert.deepEqual(await made(w.live, 'dyn_db.revoke', { id }), { revoked: credential.lease_id });
  await cut;
  assert.equal(await exists(user), false);
  const before = await db().audit_logs.count({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual(await made(w.live, 'dyn_db.revoke', { id }), { revoked: credential.lease_id });
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }), before);
  await assert.rejects(made(w.live, 'dyn_db.revoke', { id: '99' }), { type: 'not_found' });
  await assert.rejects(made(w.test, 'dyn_db.revoke', { id }), { type: 'not_found' });
});

test('renewing moves the end on the server too, at most to the longest life, and never back', async () => {
  const w = await workspace();
  const ref = await arranged(w.live, { default_ttl_seconds: 600, max_ttl_seconds: 1_000 });
  const { lease_id, username } = await made(w.live, 'dyn_db.mint', ref);
  const before = await leaseOf(w);
  const renew = (ttl_seconds: number) => made(w.ctx('live'), 'dyn_db.renew', { id: String(lease_id), ttl_seconds });
  assert.equal((await renew(100)).expires_at, before.expires_at.toISOString());
  const { expires_at } = await renew(50_000);
  assert.equal(expires_at, new Date(before.issued_at.getTime() + 1_000_000).toISOString());
  const [{ rolvaliduntil }] = (await server.query(`select rolvaliduntil from pg_roles where rolname = '${username}'`)).rows;
  assert.ok(Math.abs(rolvaliduntil.getTime() - new Date(expires_at).getTime()) < 1_000);
  await made(w.live, 'dyn_db.revoke', { id: String(lease_id) });
  await assert.rejects(renew(60), { type: 'conflict' });
});

test('live leases keep a connection, its place and its role; a disabled connection mints nothing and still revokes', async () => {
  const w = await workspace();
  const ref = await arranged(w.live);
  const { lease_id } = await made(w.live, 'dyn_db.mint', ref);
  const { connection } = ref;
  await assert.rejects(made(w.live, 'dyn_db.delete', { connection }), {
    type: 'in_use',
    message: 'connection has 1 active credential lease',
  });
  await assert.rejects(made(w.live, 'dyn_db.delete_role', ref), { type: 'in_use' });
  for (const change of [{ host: 'db.example.com' }, { port: 5433 }, { database_name: 'other' }])
    await assert.rejects(made(w.live, 'dyn_db.update', { connection, ...change }), { type: 'in_use' });
  await made(w.live, 'dyn_db.update', { connection, enabled: false });
  await assert.rejects(made(w.live, 'dyn_db.mint', ref), { type: 'connection_disabled' });
  await made(w.live, 'dyn_db.revoke', { id: String(lease_id) });
  await made(w.live, 'dyn_db.delete_role', ref);
  assert.deepEqual(await made(w.live, 'dyn_db.delete', { connection }), { deleted: true, name: connection });
  const actions = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, resource_type: 'dyn_db_connection' },
    orderBy: { seq: 'asc' },
  });
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['create', 'disable', 'delete'],
  );
});

test('what the server refuses is told without name, password or statement, and leaves no user', async () => {
  const w = await workspace();
  const creation_sql = `CREATE ROLE "{{username}}" LOGIN PASSWORD '{{password}}'; GRANT SELECT ON no_such_table TO "{{username}}"`;
  const ref = await arranged(w.live, { template: undefined, creation_sql });
  await assert.rejects(made(w.live, 'dyn_db.mint', ref), (error: { type: string; message: string }) => {
    assert.equal(error.type, 'database_error');
    assert.match(error.message, /^statement 2: 42P01 /);
    assert.ok(!/GRANT|svc_/.test(error.message), error.message);
    return true;
  });
  const lease = await leaseOf(w);
  assert.deepEqual([lease.status, await exists(lease.username)], ['failed', false]);
});

test('a lease whose database is away is tried after 30 s, 2, 10 and 30 minutes, errored at the fifth, told once, and cleaned up when it comes back', async () => {
  const w = await workspace();
  const ref = await arranged(w.live);
  const events = await watchEvents(w.live, 'dyn_db.lease.errored', 'dyn_db.lease.expired');
  const { username, expires_at } = await made(w.live, 'dyn_db.mint', { ...ref, ttl_seconds: 60 });
  const move = (host: string) => db().$executeRaw`update dyn_db_connections set host = ${host} where tenant_id = ${w.tenant.id}::uuid`;
  await move('127.0.0.1');
  await db().$executeRaw`update dyn_db_connections set port = 1 where tenant_id = ${w.tenant.id}::uuid`;
  const owner = `${newId()}@example.test`;
  const { id: user_id } = await db().users.create({ data: { id: newId(), email: owner, full_name: 'O' } });
  await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id, role: 'owner' } as never });
  let at = new Date(new Date(expires_at).getTime() + 1);
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 6; attempt++) {
    await sweepKind('dyn_db_lease', at);
    const lease = await leaseOf(w);
    assert.equal(lease.status, attempt < 5 ? 'renewing' : 'errored', `attempt ${attempt}: ${lease.last_error}`);
    assert.match(String(lease.last_error), /^TCP: /);
    waits.push(Math.round(((lease.next_attempt_at as Date).getTime() - at.getTime()) / 1_000));
    at = lease.next_attempt_at as Date;
  }
  assert.deepEqual(waits, [30, 120, 600, 1_800, 3_600, 3_600]);
  const errored = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'dyn_db_lease', action: 'update' } });
  assert.deepEqual(
    errored.map(({ details }) => (details as { outcome: string }).outcome),
    ['errored'],
  );
  assert.equal(await db().mails.count({ where: { recipient: owner, kind: 'dyn_db_lease_errored' } }), 1);
  assert.equal((await made(w.live, 'dyn_db.get', { connection: ref.connection })).errored_leases, 1);
  assert.equal(await exists(username), true);
  await move(server.host);
  await db().$executeRaw`update dyn_db_connections set port = 5432 where tenant_id = ${w.tenant.id}::uuid`;
  await sweepKind('dyn_db_lease', at);
  assert.deepEqual([(await leaseOf(w)).status, await exists(username)], ['expired', false]);
  assert.deepEqual(
    (await events()).map(({ type, data }) => [type, data.username, data.attempt]).sort(),
    [
      ['dyn_db.lease.errored', username, 'revoke'],
      ['dyn_db.lease.expired', username, undefined],
    ],
    'six failures are one event',
  );
});

test('an unreachable database answers 502 and leaves nothing behind; revoking there fails, and the sweeper goes on', async () => {
  const w = await workspace();
  const ref = await arranged(w.live, {}, { host: '127.0.0.1', port: 1 });
  await assert.rejects(made(w.live, 'dyn_db.mint', ref), { type: 'database_unreachable', status: 502 });
  assert.equal((await leaseOf(w)).status, 'failed');
  const other = await arranged(w.live);
  const { lease_id, username } = await made(w.live, 'dyn_db.mint', other);
  const port = (n: number) => db().$executeRaw`update dyn_db_connections set port = ${n} where name = ${other.connection}`;
  await port(1);
  await assert.rejects(made(w.ctx('live'), 'dyn_db.revoke', { id: String(lease_id) }), { type: 'database_unreachable' });
  assert.deepEqual([(await leaseOf(w)).status, (await leaseOf(w)).phase], ['renewing', 'revoking']);
  await port(5432);
  await sweepKind('dyn_db_lease', later(1_000));
  assert.deepEqual([(await leaseOf(w)).status, await exists(username)], ['revoked', false]);
});

test('a reset of Test hides everything at once, and the sweeper removes the users and what led to them', async () => {
  const w = await workspace();
  const ref = await arranged(w.test);
  const { username, lease_id } = await made(w.test, 'dyn_db.mint', ref);
  await made(w.ctx('test', memberActor('owner')), 'sandbox.reset', { confirm_name: w.tenant.name });
  assert.deepEqual(await made(w.test, 'dyn_db.list', {}), []);
  await assert.rejects(made(w.test, 'dyn_db.get', { connection: ref.connection }), { type: 'not_found' });
  assert.ok(lease_id && (await exists(username)));
  await sweepKind('dyn_db_lease', later(1_000));
  assert.equal(await exists(username), false);
  const where = { tenant_id: w.tenant.id, sandbox: true };
  assert.deepEqual([await db().dyn_db_connections.count({ where }), await db().dyn_db_passwords.count({ where })], [0, 0]);
});

test('an idempotency key makes a retry return the same user', async () => {
  const w = await workspace();
  const { connection, role } = await arranged(w.live);
  const { text: key } = await w.key();
  const mint = () =>
    call('POST', `/dyn-db-credentials/${connection}/creds/${role}`, { key, headers: { 'idempotency-key': 'one' }, body: {} });
  const first = await mint();
  assert.equal(first.status, 201, first.text);
  assert.equal(first.headers.get('cache-control'), 'no-store');
  const again = await Promise.all([mint(), mint()]);
  for (const answer of again) assert.equal(answer.text, first.text);
  assert.equal(await db().dyn_db_leases.count({ where: { tenant_id: w.tenant.id } }), 1);
  const parallel = await Promise.all(
    Array.from({ length: 8 }, () =>
      call('POST', `/dyn-db-credentials/${connection}/creds/${role}`, { key, headers: { 'idempotency-key': 'two' }, body: {} }),
    ),
  );
  assert.equal(parallel.filter(({ status }) => status === 201).length >= 1, true);
  assert.equal(await db().dyn_db_leases.count({ where: { tenant_id: w.tenant.id } }), 2, 'no second user');
});

test('the plan limits live leases, and a connection mints sixty times a minute', async () => {
  const w = await workspace({ plan: 'free' });
  const ref = await arranged(w.test);
  const first = await made(w.test, 'dyn_db.mint', ref);
  for (let i = 1; i < 10; i++) await made(w.test, 'dyn_db.mint', ref);
  await assert.rejects(made(w.test, 'dyn_db.mint', ref), { type: 'plan_limit', status: 402 });
  await made(w.test, 'dyn_db.revoke', { id: String(first.lease_id) });
  await made(w.test, 'dyn_db.mint', ref);
  const { id } = await db().dyn_db_connections.findFirstOrThrow({ where: { tenant_id: w.tenant.id } });
  const { take } = await import('#server/platform/throttle.ts');
  const now = new Date();
  for (let i = 0; i < 60; i++) await take({ what: 'dyn-db-mint', subject: id, limit: 60, window_sec: 60 }, now);
  await assert.rejects(made(w.ctx('test'), 'dyn_db.mint', ref), { type: 'rate_limit_exceeded' });
});

test('what does not fit a mode, an engine or the guard is refused by name', async () => {
  const w = await workspace();
  const base = { name: 'x', engine: 'postgres', host: 'db.example.com', admin_username: 'a', admin_password: 'b' };
  const refused = (input: Record<string, unknown>, message: RegExp) =>
    assert.rejects(made(w.live, 'dyn_db.create', { ...base, ...input }), (error: { type: string; message: string }) => {
      assert.equal(error.type, 'validation_error', error.message);
      assert.match(error.message, message);
      return true;
    });
  for (const name of ['leases', 'connections', 'roles', 'templates', 'Upper', '-x', 'a'.repeat(64)]) await refused({ name }, /^name: /);
  await refused({ admin_password: undefined }, /^admin_password: is required/);
  await refused({ ssh_host: 'jump.example.com' }, /^ssh_host: must be left out/);
  await refused({ execution_mode: 'agent', agent_id: newId() }, /^agent_id: no such agent/);
  await refused(
    {
      engine: 'mongo',
      execution_mode: 'iam',
      iam_region: 'eu-central-1',
      iam_db_user: 'u',
      admin_username: undefined,
      admin_password: undefined,
    },
    /^execution_mode: iam needs/,
  );
  await refused(
    { execution_mode: 'iam', iam_region: 'eu-central-1', iam_db_user: 'u', admin_username: undefined, admin_password: undefined },
    /^connect_options\.role_arn: is required/,
  );
  await refused({ connect_options: { sslmode: 'disable' } }, /^connect_options\.sslmode: can be turned off in the Test space/);
  await refused({ connect_options: { tls: true } }, /^connect_options\.tls: is not an option of postgres/);
  await refused({ connect_options: { unknown: 1 } }, /^connect_options/);
  await refused({ host: '169.254.169.254' }, /^host: is not reachable from this deployment/);
  await refused({ host: '10.0.0.1' }, /^host: is not reachable from this deployment/);
  await refused({ host: 'db.example.com:5432' }, /^host: must be one host/);
  await refused({ database_name: 'a"b' }, /^database_name: /);
  await refused({ default_ttl_seconds: 700, max_ttl_seconds: 600 }, /^default_ttl_seconds: must not exceed/);
  const { name } = await made(w.live, 'dyn_db.create', { ...base, engine: 'postgresql' });
  for (const [field, value] of [
    ['engine', 'mysql'],
    ['name', 'y'],
    ['execution_mode', 'iam'],
  ])
    await assert.rejects(made(w.live, 'dyn_db.update', { connection: name, [field as string]: value }), { type: 'validation_error' });
  await assert.rejects(made(w.live, 'dyn_db.create', base), { type: 'conflict' });
  const role = (input: Record<string, unknown>) => made(w.live, 'dyn_db.create_role', { connection: name, name: 'r', ...input });
  await assert.rejects(role({}), { type: 'validation_error' });
  await assert.rejects(role({ template: 'readonly', creation_sql: 'x' }), { type: 'validation_error' });
  await assert.rejects(role({ template: 'mysql-readonly' }), { type: 'validation_error' });
  await assert.rejects(role({ creation_sql: `CREATE ROLE "{{username}}"` }), { message: /must contain \{\{password\}\}/ });
  await backgroundSettled();
});

test('the admin password is replaced by one that nobody sees, and minting goes on', async () => {
  const w = await workspace();
  const admin_username = fresh('root').replaceAll('-', '_');
  await server.query(`create role ${admin_username} login createrole password 'first password'; grant connect on database shop to ${admin_username} with grant option;
    grant usage on schema public to ${admin_username} with grant option; grant select on all tables in schema public to ${admin_username} with grant option;
    grant select on all sequences in schema public to ${admin_username} with grant option`);
  const ref = await arranged(w.live, {}, { admin_username, admin_password: 'first password' });
  const answer = await made(w.live, 'dyn_db.rotate_root', { connection: ref.connection });
  assert.deepEqual(Object.keys(answer), ['rotated', 'rotated_at']);
  const login = (password: string) =>
    asUser({ host: server.host, port: 5432, username: admin_username, password, database_name: 'shop' }, 'select 1');
  await assert.rejects(login('first password'), /password authentication failed/);
  await made(w.live, 'dyn_db.mint', ref);
  // A process that died in between leaves both: whichever the server has, work goes on and the next rotation decides.
  const { id } = await db().dyn_db_connections.findFirstOrThrow({ where: { tenant_id: w.tenant.id } });
  const { insertPassword, sealPassword } = await import('./seals.ts');
  const { inTransaction } = await import('#server/kernel/database.ts');
  const sealed = await sealPassword(w.live, 'never set');
  const early = { ...w.live, now: later(-600_000) };
  await inTransaction(early, (tx) => insertPassword(tx, early, id, sealed, 'pending'));
  await made(w.live, 'dyn_db.mint', ref);
  await made(w.ctx('live'), 'dyn_db.rotate_root', { connection: ref.connection });
  await made(w.live, 'dyn_db.mint', ref);
  assert.equal(await db().dyn_db_passwords.count({ where: { connection_id: id } }), 1);
});

test('users without a lease are told of by the test call and the daily scan, and never dropped', async () => {
  const w = await workspace();
  const ref = await arranged(w.live);
  await made(w.live, 'dyn_db.mint', ref);
  const orphan = 'svc_reader_aaaaaaaaaa_t8aeo0';
  await server.query(`create role ${orphan}`);
  const found = await made(w.live, 'dyn_db.test', { connection: ref.connection });
  assert.deepEqual([found.ok, found.error, found.missing_privileges], [true, null, []]);
  assert.ok(found.orphans.includes(orphan) && found.server_version);
  const mine = (await leaseOf(w)).username;
  assert.ok(!found.orphans.includes(mine));
  await db().$executeRaw`update dyn_db_connections set orphans = '{}' where tenant_id = ${w.tenant.id}::uuid`;
  const { orphans } = await scanForOrphans(db(), new Date(), new AbortController().signal);
  assert.ok(orphans >= 1);
  assert.ok((await made(w.live, 'dyn_db.get', { connection: ref.connection })).orphans.includes(orphan));
  assert.equal(await exists(orphan), true);
  await server.query(`drop role ${orphan}`);
});

test('a person gets a credential behind the gate; the lease is committed with the reveal, and its password is not', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const ref = await arranged(w.live);
  await verified(owner, 'plaintext.reveal');
  // biome-ignore lint/suspicious/noExplicitAny: an output
  const shown = (await perform(operationById('dyn_db.reveal_mint'), owner, ref)).output as any;
  assert.deepEqual(await asUser(shown, 'select id from orders'), [{ id: 1 }]);
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, request_id: owner.request_id },
    orderBy: { seq: 'asc' },
  });
  assert.deepEqual(
    entries.map(({ action, resource_type }) => [action, resource_type]),
    [
      ['plaintext.reveal', 'dyn_db_role'],
      ['create', 'dyn_db_lease'],
    ],
  );
  await made(w.live, 'dyn_db.update', { connection: ref.connection, enabled: false });
  await verified(owner, 'plaintext.reveal');
  await assert.rejects(perform(operationById('dyn_db.reveal_mint'), owner, ref), { type: 'connection_disabled' });
  const unused = await db().step_up_verifications.count({ where: { user_id: owner.actor.id as string, consumed_at: null } });
  assert.equal(unused, 1, 'what is refused for its state spends nothing');
});

test('the lists agree with the counters, and nothing of a workspace is left in the sweep', async () => {
  const w = await workspace();
  const ref = await arranged(w.live);
  for (let i = 0; i < 3; i++) await made(w.live, 'dyn_db.mint', ref);
  const count = async () =>
    Number(
      (await sql().query("select n from row_counts where tenant_id = $1 and kind = 'dyn_db_leases' and not sandbox", [w.tenant.id])).rows[0]
        ?.n,
    );
  assert.equal(await count(), 3);
  const [row] = await made(w.live, 'dyn_db.list', {});
  assert.equal(row.live_leases, 3);
  await made(w.live, 'dyn_db.revoke', { id: '2' });
  assert.deepEqual(
    [await count(), (await made(w.live, 'dyn_db.list_leases', { connection: ref.connection })).leases.map(({ id }: { id: number }) => id)],
    [2, [3, 1]],
  );
});
