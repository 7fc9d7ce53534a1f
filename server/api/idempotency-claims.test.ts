import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';
import { rotateTenantKey } from '#server/domain/keys/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';

await testDatabase();

const post = (key: string, name: string, idempotency: string) =>
  call('POST', '/environments', { key, body: { name }, headers: { 'idempotency-key': idempotency } });
const made = (w: Workspace, name: string) => db().environments.count({ where: { tenant_id: w.tenant.id, name } });

/** Keeps everyone else from making an environment of this name until it is let go: a call that tries waits inside its transaction. */
async function blocking(w: Workspace, name: string): Promise<{ letGo: () => Promise<void>; waits: () => Promise<unknown> }> {
  const client = await sql().connect();
  await client.query('begin');
  await client.query(
    'insert into environments (id, tenant_id, sandbox, name, display_name, updated_at) values ($1, $2, false, $3, $3, now())',
    [newId(), w.tenant.id, name],
  );
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = rows[0]?.pid ?? 0;
  return {
    letGo: async () => {
      await client.query('rollback');
      client.release();
    },
    waits: () =>
      until(async () => {
        const found = await sql().query('select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [pid]);
        return found.rows.length > 0;
      }, 'a call waits'),
  };
}

test('a key that was used before two rotations in a day still answers its retry from what is stored', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const first = await post(key, 'before', 'k-rotated');
  const refused = await post(key, 'NOT A NAME', 'k-refused');
  for (let n = 0; n < 3; n++) {
    await rotateTenantKey(w.live);
    const again = await post(key, 'before', 'k-rotated');
    assert.deepEqual(
      [again.status, again.text, again.headers.get('x-idempotent-replay')],
      [201, first.text, 'true'],
      `after ${n + 1} rotations`,
    );
    assert.equal((await post(key, 'NOT A NAME', 'k-refused')).text, refused.text);
    assert.equal((await post(key, 'other', 'k-rotated')).body.error.type, 'idempotency_key_reuse');
  }
  assert.equal(await made(w, 'before'), 1);
  await sql().query("update tenant_master_keys set retired_at = now() - interval '26 hours' where tenant_id = $1 and status = 'retired'", [
    w.tenant.id,
  ]);
  await sql().query("update idempotency_keys set completed_at = now() - interval '25 hours' where tenant_id = $1", [w.tenant.id]);
  assert.equal((await post(key, 'other', 'k-rotated')).status, 201, 'a day later the key is new again');
});

test('a process that has not heard of a rotation claims under the new version all the same', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  await keyring().activeTmk(w.tenant.id);
  await sql().query(
    `with old as (update tenant_master_keys set status = 'retired', retired_at = now() where tenant_id = $1 returning *)
     insert into tenant_master_keys (id, tenant_id, version, wrap_method, status, wrapped_key, root_key_id, created_at)
     select $2, tenant_id, 2, wrap_method, 'active', $3, $4, now() from old`,
    [w.tenant.id, newId(), ...(await wrappedKey(w.tenant.id))],
  );
  assert.equal((await keyring().activeTmk(w.tenant.id)).version, 1, 'this process still has the old version in memory');
  assert.equal((await post(key, 'stale', 'k-stale')).status, 201);
  const rows = await db().idempotency_keys.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual(
    rows.map((row) => [row.tmk_version, row.state]),
    [[2, 'completed']],
  );
});

async function wrappedKey(tenantId: string): Promise<[Uint8Array, string]> {
  const { newTenantKey } = await import('#server/crypto/tenant-key.ts');
  const { rootKeys } = await import('#server/platform/keys.ts');
  const { wrapped_key, root_key_id } = newTenantKey(rootKeys().current, tenantId, 2);
  return [wrapped_key, root_key_id];
}

test('a retry after kill -9 of the process that held the key runs at once, and makes one resource', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const block = await blocking(w, 'killed');
  const script = `const { call } = await import('#server/testing/calls.ts');
    await call('POST', '/environments', { key: process.argv[1], body: { name: 'killed' }, headers: { 'idempotency-key': 'k-killed' } });`;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script, key], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    await block.waits();
    const olderThanGrace = async () => {
      const { rows } = await sql().query(
        "select 1 from idempotency_keys where tenant_id = $1 and lease_until < now() + interval '119 seconds'",
        [w.tenant.id],
      );
      return rows.length === 1;
    };
    await until(olderThanGrace, 'the claim is so old that one of a dead process would be taken over');
    const busy = await post(key, 'killed', 'k-killed');
    assert.deepEqual([busy.body.error.type, busy.headers.get('retry-after')], ['request_in_progress', '1'], 'its process lives');
  } finally {
    child.kill('SIGKILL');
    await block.letGo();
  }
  await until(async () => (await post(key, 'killed', 'k-killed')).status === 201, 'the retry runs');
  assert.equal(await made(w, 'killed'), 1);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'create', resource_type: 'environment' } }), 1);
});

test('a call that is merely slow and lost its lease leaves nothing; the retry that took over leaves one resource', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const block = await blocking(w, 'slow');
  const slow = post(key, 'slow', 'k-slow');
  await block.waits();
  await sql().query("update idempotency_keys set lease_until = now() - interval '1 second' where tenant_id = $1", [w.tenant.id]);
  const takers = [post(key, 'slow', 'k-slow'), post(key, 'slow', 'k-slow'), post(key, 'slow', 'k-slow')];
  await until(async () => {
    const row = await db().idempotency_keys.findFirstOrThrow({ where: { tenant_id: w.tenant.id } });
    return row.lease_until > new Date();
  }, 'one retry has taken over');
  await block.letGo();
  assert.equal((await slow).body.error.type, 'request_in_progress');
  const answers = await Promise.all(takers);
  assert.equal(answers.filter((a) => a.status === 201 && !a.headers.get('x-idempotent-replay')).length, 1, 'one taker ran it');
  assert.equal(await made(w, 'slow'), 1);
});
