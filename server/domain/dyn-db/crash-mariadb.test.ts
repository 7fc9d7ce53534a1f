import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import test, { describe } from 'node:test';
import { backgroundSettled } from '#server/platform/background.ts';
import { mariadbServer, noMariadb } from '#server/platform/databases/mysql/server.fixture.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { tripwire } from './tripwire.fixture.ts';

// As crash.test.ts, on a server without transactions around users: a process that is killed leaves whatever it had done so far.

await ownDatabase();
const server = noMariadb ? undefined : await mariadbServer();
const wire = await tripwire('127.0.0.1', server?.port ?? 0);
onFileEnd(wire.close);
const options = { skip: noMariadb };

async function arranged() {
  const w = await workspace();
  const { name: connection } = await made(w.test, 'dyn_db.create', {
    ...{ name: fresh('db'), engine: 'mysql', host: '127.0.0.1', port: wire.port, database_name: 'shop' },
    ...{ admin_username: server?.admin.username, admin_password: server?.admin.password, connect_options: { sslmode: 'disable' } },
  });
  await made(w.test, 'dyn_db.create_role', { connection, name: 'reader', template: 'readonly' });
  await backgroundSettled();
  return { w, input: { connection, role: 'reader' } };
}

type Step = { words: string | RegExp; when: 'before' | 'after' };

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

const leaseOf = (w: Workspace) => db().dyn_db_leases.findFirstOrThrow({ where: { tenant_id: w.tenant.id }, orderBy: { number: 'desc' } });
const allUsers = async (): Promise<string[]> =>
  ((await server?.query("SELECT User FROM mysql.user WHERE User LIKE 'svc\\_%'")) ?? []).map((row) => String(row.User));
async function usersOf(w: Workspace): Promise<string[]> {
  const leases = await db().dyn_db_leases.findMany({ where: { tenant_id: w.tenant.id }, select: { username: true } });
  const own = new Set(leases.map(({ username }) => username));
  return (await allUsers()).filter((name) => own.has(name));
}
/** No user on the server is without a live lease, in whatever workspace. */
async function assertNoneLost(): Promise<void> {
  const live = await db().dyn_db_leases.findMany({ where: { ended_at: null }, select: { username: true } });
  const known = new Set(live.map(({ username }) => username));
  assert.deepEqual(
    (await allUsers()).filter((name) => !known.has(name)),
    [],
  );
}
const LAPSED_MS = 121_000;
const sweepAt = (at: Date) => sweepKind('dyn_db_lease', at);
const lapsed = () => new Date(Date.now() + LAPSED_MS);

const CREATION: [string, Step, users: number][] = [
  ['before the user is made', { words: 'CREATE USER', when: 'before' }, 0],
  ['after the user was made', { words: 'CREATE USER', when: 'after' }, 1],
  ['before the grant', { words: 'GRANT SELECT', when: 'before' }, 1],
  ['after the grant, before it is known', { words: 'GRANT SELECT', when: 'after' }, 1],
];
test('a mint that is killed while it logs in makes no user, whether its lease is committed by then or not (MariaDB)', options, async () => {
  const { w, input } = await arranged();
  await killedAt({ words: 'broker\0', when: 'before' }, w, 'dyn_db.mint', input);
  assert.deepEqual(await usersOf(w), []);
  await sweepAt(lapsed());
  assert.equal(await db().dyn_db_leases.count({ where: { tenant_id: w.tenant.id, ended_at: null } }), 0);
});

describe('a mint that is killed leaves a lease, and one sweep after its claim lapses no user (MariaDB)', options, () => {
  for (const [title, step, users] of CREATION)
    test(title, async () => {
      const { w, input } = await arranged();
      await killedAt(step, w, 'dyn_db.mint', input);
      const left = await leaseOf(w);
      assert.deepEqual([left.status, left.phase, left.ended_at, (await usersOf(w)).length], ['renewing', 'creating', null, users]);
      await assertNoneLost();
      await sweepAt(lapsed());
      assert.deepEqual([(await leaseOf(w)).status, await usersOf(w)], ['failed', []]);
      await assertNoneLost();
    });
});

const REMOVAL: [string, Step][] = [
  ['before it logs in', { words: 'broker\0', when: 'before' }],
  ['before logins are refused', { words: 'ACCOUNT LOCK', when: 'before' }],
  ['after logins are refused', { words: 'ACCOUNT LOCK', when: 'after' }],
  ['before the user is dropped', { words: 'DROP USER', when: 'before' }],
  ['after the user was dropped, before it is known', { words: 'DROP USER', when: 'after' }],
];
describe('a revocation that is killed is ended by one sweep after its claim lapses (MariaDB)', options, () => {
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

describe('a sweep that is killed is taken up by the next one after its claim lapses (MariaDB)', options, () => {
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

describe('a server that dies loses no lease, and is cleaned when it comes back (MariaDB)', options, () => {
  test('while a user exists', async () => {
    const { w, input } = await arranged();
    const { lease_id } = await made(w.test, 'dyn_db.mint', input);
    await server?.kill();
    await assert.rejects(made(w.test, 'dyn_db.revoke', { id: String(lease_id) }), { type: 'database_unreachable' });
    assert.equal((await leaseOf(w)).ended_at, null);
    await server?.start();
    assert.equal((await usersOf(w)).length, 1, 'it lived on');
    await sweepAt(lapsed());
    assert.deepEqual([(await leaseOf(w)).status, await usersOf(w)], ['revoked', []]);
    await assertNoneLost();
  });
});
