import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import test, { describe } from 'node:test';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { target } from './target.fixture.ts';
import { tripwire } from './tripwire.fixture.ts';

// A process that is killed with SIGKILL at any step of a mint, a renewal, a revocation or a sweep: no database user outlives its lease by more than one
// sweep, and no user exists without a lease. One that is killed while it changes the admin's password locks nobody out.

await ownDatabase();
const server = await target();
const wire = await tripwire(server.host, 5432);
onFileEnd(wire.close);

/** In Test the service may speak without TLS, so that the test can hear it. */
async function arranged(admin = server.admin) {
  const w = await workspace();
  const { name: connection } = await made(w.test, 'dyn_db.create', {
    ...{ name: fresh('db'), engine: 'postgres', host: '127.0.0.1', port: wire.port, database_name: 'shop' },
    ...{ admin_username: admin.username, admin_password: admin.password, connect_options: { sslmode: 'disable' } },
  });
  await made(w.test, 'dyn_db.create_role', { connection, name: 'reader', template: 'readonly' });
  await backgroundSettled();
  return { w, input: { connection, role: 'reader' } };
}

type Step = { words: string | RegExp; when: 'before' | 'after' };

/** The operation in a process of its own, which is killed at the step. */
async function killedAt(step: Step, w: Workspace, operation: string, input: Record<string, unknown>): Promise<void> {
  const child: ChildProcess = fork(new URL('./crashing.fixture.ts', import.meta.url));
  await once(child, 'message');
  const exited = once(child, 'exit');
  wire.arm({ ...step, act: () => child.kill('SIGKILL') });
  child.send({ tenant_id: w.tenant.id, operation, input });
  const outcome = await Promise.race([exited, once(child, 'message')]);
  child.kill('SIGKILL');
  assert.equal(outcome[1], 'SIGKILL', `it was to be killed at ${step.words}: ${outcome[0]}`);
}

const usersOf = async (w: Workspace): Promise<string[]> => {
  const names = (await db().dyn_db_leases.findMany({ where: { tenant_id: w.tenant.id }, select: { username: true } })).map(
    (row) => row.username,
  );
  const { rows } = await server.query(
    `select rolname from pg_roles where rolname in ('', ${names.map((name) => `'${name}'`).join(', ') || "''"})`,
  );
  return rows.map((row: { rolname: string }) => row.rolname);
};
const leaseOf = (w: Workspace) => db().dyn_db_leases.findFirstOrThrow({ where: { tenant_id: w.tenant.id }, orderBy: { number: 'desc' } });
/** No user on the server is without a live lease, in whatever workspace. */
async function assertNoneLost(): Promise<void> {
  const { rows } = await server.query("select rolname from pg_roles where rolname like 'svc\\_%'");
  const live = await db().dyn_db_leases.findMany({ where: { ended_at: null }, select: { username: true } });
  const known = new Set(live.map(({ username }) => username));
  assert.deepEqual(
    rows.map((row: { rolname: string }) => row.rolname).filter((name: string) => !known.has(name)),
    [],
  );
}
const LAPSED_MS = 121_000;
const sweepAt = (at: Date) => sweepKind('dyn_db_lease', at);
const lapsed = () => new Date(Date.now() + LAPSED_MS);

const CREATION: [string, Step][] = [
  ['before the transaction begins', { words: 'BEGIN', when: 'before' }],
  ['after the transaction began', { words: 'BEGIN', when: 'after' }],
  ['before the user is made', { words: 'CREATE ROLE', when: 'before' }],
  ['after the user was made, uncommitted', { words: 'CREATE ROLE', when: 'after' }],
  ['between two grants', { words: 'GRANT USAGE', when: 'after' }],
  ['before the commit', { words: 'COMMIT', when: 'before' }],
  ['after the commit, before it is known', { words: 'COMMIT', when: 'after' }],
];
describe('a mint that is killed leaves a lease, and one sweep after its claim lapses no user', () => {
  for (const [title, step] of CREATION)
    test(title, async () => {
      const { w, input } = await arranged();
      await killedAt(step, w, 'dyn_db.mint', input);
      const left = await leaseOf(w);
      assert.deepEqual(
        [left.status, left.phase, left.ended_at],
        ['renewing', 'creating', null],
        'it was committed before the database was touched',
      );
      await assertNoneLost();
      await sweepAt(new Date());
      assert.equal((await leaseOf(w)).phase, 'creating', 'whoever is alive may still be at it');
      await sweepAt(lapsed());
      assert.deepEqual([(await leaseOf(w)).status, await usersOf(w)], ['failed', []]);
      assert.ok(left.expires_at > lapsed(), 'long before its lease would have ended');
      await assertNoneLost();
    });
});

test('a mint that is killed while it logs in has touched nothing, and what it left is over after one sweep', async () => {
  const { w, input } = await arranged();
  await killedAt({ words: /user\0/, when: 'before' }, w, 'dyn_db.mint', input);
  await sweepAt(lapsed());
  assert.deepEqual([await db().dyn_db_leases.count({ where: { tenant_id: w.tenant.id, ended_at: null } }), await usersOf(w)], [0, []]);
  await assertNoneLost();
});

describe('a renewal that is killed leaves the lease as it was, and its user goes with it', () => {
  for (const when of ['before', 'after'] as const)
    test(`${when} the server moved the end`, async () => {
      const { w, input } = await arranged();
      const { lease_id, expires_at } = await made(w.test, 'dyn_db.mint', { ...input, ttl_seconds: 300 });
      await killedAt({ words: 'VALID UNTIL', when }, w, 'dyn_db.renew', { id: String(lease_id), ttl_seconds: 3_000 });
      assert.equal((await leaseOf(w)).phase, 'renewing');
      await sweepAt(lapsed());
      const after = await leaseOf(w);
      assert.deepEqual([after.status, after.phase, after.expires_at.toISOString()], ['active', 'none', expires_at]);
      assert.equal((await usersOf(w)).length, 1);
      await sweepAt(new Date(after.expires_at.getTime() + 1));
      assert.deepEqual([(await leaseOf(w)).status, await usersOf(w)], ['expired', []]);
      await assertNoneLost();
    });
});

const REMOVAL: [string, Step][] = [
  ['before it logs in', { words: /user\0/, when: 'before' }],
  ['before logins are refused', { words: 'NOLOGIN', when: 'before' }],
  ['after logins are refused', { words: 'NOLOGIN', when: 'after' }],
  ['before the user is dropped', { words: 'DROP ROLE', when: 'before' }],
  ['after the user was dropped, before it is known', { words: 'DROP ROLE', when: 'after' }],
];
describe('a revocation that is killed is ended by one sweep after its claim lapses', () => {
  for (const [title, step] of REMOVAL)
    test(title, async () => {
      const { w, input } = await arranged();
      const { lease_id } = await made(w.test, 'dyn_db.mint', input);
      await killedAt(step, w, 'dyn_db.revoke', { id: String(lease_id) });
      assert.equal((await leaseOf(w)).phase, 'revoking');
      await sweepAt(lapsed());
      assert.deepEqual([(await leaseOf(w)).status, await usersOf(w)], ['revoked', []]);
      await assertNoneLost();
    });
});

describe('a sweep that is killed is taken up by the next one after its claim lapses', () => {
  for (const [title, step] of REMOVAL)
    test(title, async () => {
      const { w, input } = await arranged();
      await made(w.test, 'dyn_db.mint', { ...input, ttl_seconds: 60 });
      const now = new Date((await leaseOf(w)).expires_at.getTime() + 1);
      await killedAt(step, w, 'sweep', { now: now.toISOString() });
      assert.equal((await leaseOf(w)).phase, 'revoking');
      // The lease of the worker that died lasts by the clock of the database.
      await db().leases.updateMany({ where: { kind: 'dyn_db_lease', tenant_id: w.tenant.id }, data: { locked_until: new Date(0) } });
      await sweepAt(new Date(now.getTime() + LAPSED_MS));
      assert.deepEqual([(await leaseOf(w)).status, await usersOf(w)], ['expired', []]);
      await assertNoneLost();
    });
});

const ROTATION: [string, Step][] = [
  ['while it logs in', { words: /user\0/, when: 'before' }],
  ['before the server has the new one', { words: 'ALTER ROLE CURRENT_USER', when: 'before' }],
  ['after the server has it, before that is known', { words: 'ALTER ROLE CURRENT_USER', when: 'after' }],
];
describe('a rotation of the admin password that is killed leaves one that works, and the next rotation leaves only that', () => {
  for (const [title, step] of ROTATION)
    test(title, async () => {
      const username = fresh('root').replaceAll('-', '_');
      await server.query(`create role ${username} login createrole password 'the first password'; grant connect on database shop to ${username} with grant option;
        grant usage on schema public to ${username} with grant option; grant select on all tables in schema public to ${username} with grant option;
        grant select on all sequences in schema public to ${username} with grant option`);
      const { w, input } = await arranged({ username, password: 'the first password' });
      const { connection } = input;
      const stored = () => db().dyn_db_passwords.count({ where: { tenant_id: w.tenant.id } });
      await killedAt(step, w, 'dyn_db.rotate_root', { connection });
      assert.equal(await stored(), 2);
      const { lease_id } = await made(w.test, 'dyn_db.mint', input);
      await assert.rejects(
        made(w.ctx('test'), 'dyn_db.rotate_root', { connection }),
        { type: 'conflict' },
        'whoever is alive may still be at it',
      );
      await made({ ...w.ctx('test'), now: lapsed() }, 'dyn_db.rotate_root', { connection });
      assert.equal(await stored(), 1);
      await made(w.ctx('test'), 'dyn_db.revoke', { id: String(lease_id) });
      assert.deepEqual(await usersOf(w), []);
    });
});
