import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { mariadbServer, noMariadb } from '#server/platform/databases/mysql/server.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Access, accessOf, withDatabase } from './sessions.ts';
import { connectionByName } from './store.ts';
import { answering, created, target } from './target.fixture.ts';

await testDatabase();
const server = await target();

const AT_ONCE = 8;
type Names = () => Promise<string[]>;

/** Two connections to one server, as of two workspaces: what serialises the calls of one does nothing for the other. */
async function arranged(input: (ctx: Ctx) => Record<string, unknown> | Promise<Record<string, unknown>> = answering) {
  const w = await workspace();
  const connections = await Promise.all(
    [w.live, w.test].map(async (ctx) => {
      const connection = await created(ctx, { ...(await input(ctx)), name: fresh('busy') });
      await made(ctx, 'dyn_db.create_role', { connection, name: 'writer', template: 'readwrite' });
      return { ctx, connection };
    }),
  );
  return { w, connections };
}

test('work that read the password of the admin before a rotation logs in with the new one', async () => {
  const { connections } = await arranged();
  const [{ ctx, connection }] = connections as [(typeof connections)[number]];
  await server.query("create role rotated login password 'first-password'; grant connect on database shop to rotated");
  await made(ctx, 'dyn_db.update', { connection, admin_username: 'rotated', admin_password: 'first-password' });
  const access = await read(ctx, async (tx) => accessOf(tx, ctx, await connectionByName(tx, ctx, connection)));
  await made(ctx, 'dyn_db.rotate_root', { connection });
  const whoami = (given: Access) => withDatabase(ctx, given, (session) => session.run('select current_user as me'));
  assert.deepEqual(await whoami(access), [{ me: 'rotated' }]);
  await assert.rejects(whoami({ ...access, only: true }), { type: 'database_error' });
});

test('eight rotations at once succeed one after the other, and eight renewals and revocations of one lease', async () => {
  const { w, connections } = await arranged();
  const [{ connection }] = connections as [(typeof connections)[number]];
  const each = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: AT_ONCE }, work));
  await server.query(
    "create role busiest login createrole in role broker password 'first-password'; grant connect on database shop to busiest",
  );
  await made(w.live, 'dyn_db.update', { connection, admin_username: 'busiest', admin_password: 'first-password' });
  await each(() => made(w.ctx('live'), 'dyn_db.rotate_root', { connection }));
  assert.equal(await db().dyn_db_passwords.count({ where: { tenant_id: w.tenant.id, sandbox: false } }), 1);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'dyn_db_connection' } });
  const rotations = entries.filter(({ details }) => (details as { outcome?: string }).outcome === 'rotated');
  assert.equal(rotations.length, AT_ONCE);

  await made(w.live, 'dyn_db.update', { connection, admin_username: server.admin.username, admin_password: server.admin.password });
  const { lease_id } = await made(w.ctx('live'), 'dyn_db.mint', { connection, role: 'writer', ttl_seconds: 60 });
  const id = String(lease_id);
  const renewed = await each(() => made(w.ctx('live'), 'dyn_db.renew', { id, ttl_seconds: 3_600 }));
  assert.ok(renewed.every(({ status }) => status === 'active'));
  assert.deepEqual(await each(() => made(w.ctx('live'), 'dyn_db.revoke', { id })), Array(AT_ONCE).fill({ revoked: lease_id }));
});

async function inRounds({ w, connections }: Awaited<ReturnType<typeof arranged>>, users: Names): Promise<void> {
  const before = await users();
  for (let round = 1; round <= 3; round++) {
    const one = (i: number) => connections[i % 2] as (typeof connections)[number];
    const each = <T>(work: (i: number) => Promise<T>) => Promise.all(Array.from({ length: AT_ONCE }, (_, i) => work(i)));
    const minted = await each((i) => made(one(i).ctx, 'dyn_db.mint', { connection: one(i).connection, role: 'writer', ttl_seconds: 60 }));
    assert.equal((await users()).length, before.length + AT_ONCE);
    await each((i) => made(one(i).ctx, 'dyn_db.renew', { id: String(minted[i].lease_id), ttl_seconds: 3_600 }));
    // Those are revoked while others are minted.
    const [, more] = await Promise.all([
      each((i) => made(one(i).ctx, 'dyn_db.revoke', { id: String(minted[i].lease_id) })),
      each((i) => made(one(i).ctx, 'dyn_db.mint', { connection: one(i).connection, role: 'writer' })),
    ]);
    await each((i) => made(one(i).ctx, 'dyn_db.revoke', { id: String(more[i].lease_id) }));
    assert.deepEqual(await users(), before, `round ${round}`);
  }
  const rows = await db().dyn_db_leases.groupBy({ by: ['status'], where: { tenant_id: w.tenant.id }, _count: true });
  assert.deepEqual(rows, [{ status: 'revoked', _count: 6 * AT_ONCE }]);
}

test('credentials are minted, renewed and revoked eight at a time, and no user is left', async () => {
  const users = async () =>
    (await server.query("select rolname from pg_roles where rolname like 'svc\\_%'")).rows.map(({ rolname }) => rolname);
  await inRounds(await arranged(), users);
});

test('credentials are minted and revoked eight at a time, and no user is left (MariaDB)', { skip: noMariadb }, async () => {
  const mariadb = await mariadbServer();
  const { username: admin_username, password: admin_password } = mariadb.admin;
  const connections = await arranged(() => ({
    ...{ engine: 'mysql', host: '127.0.0.1', port: mariadb.port, database_name: 'shop', admin_username, admin_password },
  }));
  await inRounds(connections, async () =>
    (await mariadb.query("select User from mysql.user where User like 'svc\\_%'")).map(({ User }) => String(User)),
  );
});
