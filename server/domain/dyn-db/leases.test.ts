import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { eventData } from '#server/domain/events/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { answering, created, target } from './target.fixture.ts';

await ownDatabase();
const server = await target();

async function arranged(ctx: Ctx, role: Record<string, unknown> = {}) {
  const connection = await created(ctx, await answering(ctx));
  await made(ctx, 'dyn_db.create_role', { connection, name: 'reader', template: 'readonly', ...role });
  return { connection, role: 'reader' };
}
const leaseOf = (w: Workspace) => db().dyn_db_leases.findFirstOrThrow({ where: { tenant_id: w.tenant.id }, orderBy: { number: 'desc' } });
const exists = async (username: string) => (await server.query(`select 1 from pg_roles where rolname = '${username}'`)).rowCount === 1;
/** Where the service looks for the server; 1 is nowhere. */
const port = (w: Workspace, n: number) =>
  db().$executeRaw`update dyn_db_connections set port = ${n} where tenant_id = ${w.tenant.id}::uuid`;

test('a mint that the sweeper overtakes, after whatever pause, hands out nothing and leaves no user', async () => {
  const w = await workspace();
  const lock = crypto.getRandomValues(new Uint32Array(1))[0] as number;
  const creation_sql = `CREATE ROLE "{{username}}" LOGIN PASSWORD '{{password}}'; SELECT pg_advisory_xact_lock(${lock}); GRANT SELECT ON orders TO "{{username}}"`;
  const place = await arranged(w.live, { template: undefined, creation_sql });
  const { username: user, password } = server.admin;
  const holder = new pg.Client({ host: server.host, user, password, database: 'shop', ssl: { rejectUnauthorized: false } });
  await holder.connect();
  try {
    await holder.query(`select pg_advisory_lock(${lock})`);
    const outcome = made(w.live, 'dyn_db.mint', place).then(
      () => 'handed out',
      (error: { type: string }) => error.type,
    );
    const waits = async () =>
      (await server.query(`select 1 from pg_locks where locktype = 'advisory' and not granted and objid = ${lock}`)).rowCount === 1;
    await until(waits, 'the mint waits');
    const lease = await leaseOf(w);
    assert.deepEqual([lease.status, lease.phase], ['renewing', 'creating']);
    await assert.rejects(made(w.ctx('live'), 'dyn_db.revoke', { id: String(lease.number) }), { type: 'conflict' });
    await sweepKind('dyn_db_lease', new Date(Date.now() + 121_000));
    assert.equal((await leaseOf(w)).status, 'failed', 'its claim had lapsed');
    await holder.query(`select pg_advisory_unlock(${lock})`);
    assert.ok(['conflict', 'database_error', 'database_unreachable', 'database_timeout'].includes(await outcome), await outcome);
    assert.deepEqual([(await leaseOf(w)).status, await exists(lease.username)], ['failed', false]);
  } finally {
    await holder.end();
  }
});

test('a renewal is given up after five failures: the lease is errored and told once, ends when it would have, and recovers with the next that works', async () => {
  const w = await workspace();
  const { lease_id, username } = await made(w.live, 'dyn_db.mint', { ...(await arranged(w.live)), ttl_seconds: 60 });
  const id = String(lease_id);
  const event_types = ['dyn_db.lease.errored', 'dyn_db.lease.expired'];
  const space = { tenant_id: w.tenant.id, sandbox: false };
  await db().event_subscriptions.create({ data: { ...space, id: newId(), channel: 'test', destination_id: newId(), event_types } });
  const { expires_at } = await leaseOf(w);
  const renew = () => made(w.ctx('live'), 'dyn_db.renew', { id, ttl_seconds: 3_600 });
  await port(w, 1);
  for (let n = 1; n <= 6; n++) {
    await assert.rejects(renew(), { type: 'database_unreachable' });
    const lease = await leaseOf(w);
    assert.deepEqual([lease.status, lease.phase, lease.expires_at], [n < 5 ? 'active' : 'errored', 'none', expires_at], `failure ${n}`);
  }
  const raised = async () =>
    Promise.all(
      (await db().events.findMany({ where: { ...space, type: { in: event_types } }, orderBy: { occurred_at: 'asc' } })).map(
        async (event) => [event.type, (await eventData(event)).lease_id],
      ),
    );
  assert.deepEqual(await raised(), [['dyn_db.lease.errored', lease_id]]);
  await port(w, 5432);
  assert.equal((await renew()).status, 'active');
  assert.deepEqual([(await leaseOf(w)).attempts, await exists(username)], [0, true]);
  await sweepKind('dyn_db_lease', new Date((await leaseOf(w)).expires_at.getTime() + 1));
  assert.deepEqual([(await leaseOf(w)).status, await exists(username)], ['expired', false]);
  assert.deepEqual((await raised())[1], ['dyn_db.lease.expired', lease_id]);
});

test('while the workspace is sealed nothing is minted or revoked, and what came due goes once it is open again', async () => {
  const w = await workspace();
  const place = await arranged(w.live);
  const { lease_id, username } = await made(w.live, 'dyn_db.mint', place);
  const where = { tenant_id: w.tenant.id };
  const keys = await db().tenant_master_keys.findMany({ where });
  await db().tenant_master_keys.updateMany({ where, data: { wrapped_key: null } });
  keyring().evict(w.tenant.id);
  const sealed = { type: 'tenant_sealed', status: 503 };
  await assert.rejects(made(w.ctx('live'), 'dyn_db.mint', place), sealed);
  await assert.rejects(made(w.ctx('live'), 'dyn_db.revoke', { id: String(lease_id) }), sealed);
  const due = new Date((await leaseOf(w)).expires_at.getTime() + 1);
  await sweepKind('dyn_db_lease', due);
  assert.deepEqual([(await leaseOf(w)).phase, await exists(username)], ['revoking', true]);
  for (const { id, wrapped_key } of keys) await db().tenant_master_keys.update({ where: { id }, data: { wrapped_key } });
  keyring().evict(w.tenant.id);
  await sweepKind('dyn_db_lease', new Date(due.getTime() + 31_000));
  assert.deepEqual([(await leaseOf(w)).status, await exists(username)], ['expired', false]);
});

test('a lease is removed by the statements that it was minted with, whatever became of its role', async () => {
  const w = await workspace();
  const own = `ALTER ROLE "{{username}}" NOLOGIN; INSERT INTO orders VALUES (4711)`;
  const place = await arranged(w.live, { revocation_sql: own });
  const { username } = await made(w.live, 'dyn_db.mint', place);
  await made(w.live, 'dyn_db.update_role', { ...place, revocation_sql: `SELECT 'nothing for {{username}}'` });
  await made(w.live, 'dyn_db.update', { connection: place.connection, max_ttl_seconds: 60, default_ttl_seconds: 60 });
  const before = await leaseOf(w);
  await sweepKind('dyn_db_lease', new Date(Date.now() + 61_000));
  assert.deepEqual([(await leaseOf(w)).status, before.ttl_seconds], ['active', 3_600], 'a lower limit leaves leases as they are');
  await sweepKind('dyn_db_lease', new Date(before.expires_at.getTime() + 1));
  const { rowCount } = await server.query('delete from orders where id = 4711');
  assert.deepEqual([(await leaseOf(w)).status, await exists(username), rowCount], ['expired', false, 1]);
});

test('leases are listed newest first, in pages, by connection, role and status, and in the words of the interface', async () => {
  const w = await workspace();
  const [first, second] = [await arranged(w.live), await arranged(w.live)];
  await made(w.live, 'dyn_db.create_role', { connection: first.connection, name: 'other', template: 'readonly' });
  for (const place of [first, second, { ...first, role: 'other' }, first]) await made(w.live, 'dyn_db.mint', place);
  const { text: key } = await w.key();
  const list = async (query: string) => {
    const { status, body, text } = await call('GET', `/dyn-db-credentials/leases?${query}`, { key });
    assert.equal(status, 200, text);
    return [body.data.leases.map(({ id }: { id: number }) => id), body.data.total, body.data.limit, body.data.offset];
  };
  assert.deepEqual(await list(''), [[4, 3, 2, 1], 4, 100, 0]);
  assert.deepEqual(await list('limit=2&offset=1'), [[3, 2], 4, 2, 1]);
  assert.deepEqual(await list(`connection=${first.connection}`), [[4, 3, 1], 3, 100, 0]);
  assert.deepEqual(await list(`connection=${first.connection}&role=other`), [[3], 1, 100, 0]);
  assert.deepEqual(await list('status=errored'), [[], 0, 100, 0]);
  for (const query of ['limit=501', 'limit=0', 'status=expired', 'offset=-1'])
    assert.equal((await call('GET', `/dyn-db-credentials/leases?${query}`, { key })).status, 400, query);
  for (const at of ['/databases', `/databases/${first.connection}`, '/databases/leases'])
    assert.equal((await call('GET', at, { key })).status, 404, 'the former name');
});

test('a connection has at most 500 live leases and 50 roles, and a space 100 connections', async () => {
  const w = await workspace();
  const place = await arranged(w.live);
  const { lease_id } = await made(w.live, 'dyn_db.mint', place);
  const mine = { tenant_id: w.tenant.id };
  /** Copies of the one row that is there. */
  const copies = (table: string, from: number, to: number, changed: string) =>
    db().$executeRawUnsafe(
      `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), ${changed}))).* from ${table} t, generate_series(${from}, ${to}) n where t.tenant_id = '${w.tenant.id}'`,
    );
  await copies('dyn_db_leases', 2, 500, `'number', n, 'username', 'svc_none_' || n`);
  await assert.rejects(made(w.ctx('live'), 'dyn_db.mint', place), { type: 'lease_limit', status: 409 });
  await made(w.ctx('live'), 'dyn_db.revoke', { id: String(lease_id) });
  const { username } = await made(w.ctx('live'), 'dyn_db.mint', place);
  assert.ok(await exists(username));
  await db().dyn_db_leases.deleteMany({ where: { ...mine, username: { startsWith: 'svc_none_' } } });

  const role = { connection: place.connection, name: 'one-more', template: 'readonly' };
  await copies('dyn_db_roles', 2, 50, `'name', 'role-' || n`);
  await assert.rejects(made(w.live, 'dyn_db.create_role', role), { type: 'plan_limit' });
  await made(w.live, 'dyn_db.delete_role', { connection: place.connection, role: 'role-2' });
  await made(w.live, 'dyn_db.create_role', role);
  await copies('dyn_db_connections', 2, 100, `'name', 'db-' || n`);
  await assert.rejects(made(w.live, 'dyn_db.create', await answering(w.live)), { type: 'plan_limit' });
});
