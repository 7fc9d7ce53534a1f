import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { newSigningSeed, signingKeyOf } from '#server/crypto/chain-head.ts';
import { sealDeploymentValue } from '#server/crypto/deployment-value.ts';
import { pruneAuditLogs } from '#server/domain/audit-logs/retention.ts';
import { rotateRootKey, rotateTenantKey } from '#server/domain/keys/service.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { processState } from '#server/kernel/process-state.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys, wipeKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { rereadSettings } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { storedAuditKeys } from './audit-keys.ts';
import { sealChains } from './baseline.ts';
import { verifyChainOf } from './chain-pages.ts';
import { appendCritical } from './critical.ts';
import { verifyAllChains } from './failures.ts';
import { faultOfHead, highestSeen } from './heads.ts';
import { write } from './planted.fixture.ts';
import { publicKeyDocument, signCheckpoints } from './signing.ts';
import { headOf, inSnapshot } from './stored-chain.ts';

await ownDatabase();

const entry = (w: Workspace) => ({ action: 'byok.kms.rotate', resource_type: 'tenant_master_key', resource_id: w.tenant.id }) as const;
const append = (w: Workspace) => inTransaction(w.live, (tx) => appendCritical(tx, w.live, entry(w)));
const verdict = async (w: Workspace) => {
  const { valid, failure } = await verifyChainOf(w.live, {});
  return valid ? 'valid' : failure?.kind;
};
/** What a new process doesn't know. */
function restartProcess() {
  wipeKeys();
  rereadSettings();
  delete processState('audit-keys', (): { keys?: unknown } => ({})).keys;
  processState('audit-heads', () => new Map()).clear();
}

test('the keys, and the document of the public ones, are read without a look at the entries', async () => {
  await append(await workspace());
  const known = await storedAuditKeys();
  const client = await sql().connect();
  try {
    await client.query('begin');
    await client.query('lock table audit_log_critical, audit_chain_heads, audit_checkpoints in access exclusive mode');
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // Whoever looks waits for the lock.
    const waiting = async () => {
      const { rowCount } = await client.query('select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [rows[0]?.pid]);
      return rowCount !== 0;
    };
    const state = { read: false };
    const read = Promise.all([storedAuditKeys(), publicKeyDocument()]).then((found) => {
      state.read = true;
      return found;
    });
    await until(async () => state.read || (await waiting()));
    assert.equal(state.read, true, 'the entries were looked at');
    assert.deepEqual((await read)[0].published, known.published);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('appends, signing and verification beside each other never see a fault', async () => {
  const w = await workspace();
  const verdicts = await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      await append(w);
      if (i % 10 === 0) await signCheckpoints(new Date());
      return verdict(w);
    }),
  );
  assert.deepEqual([...new Set(verdicts)], ['valid']);
});

test('a verification that began before others saw a newer head reports no chain as put back', async () => {
  const w = await workspace();
  await append(w);
  const keys = await storedAuditKeys();
  const known = highestSeen(w.tenant.id);
  const head = await inSnapshot(async (reader) => {
    await reader.query('select from audit_chain_heads');
    await append(w);
    assert.equal(await verdict(w), 'valid');
    return headOf(w.tenant.id, reader, known);
  });
  assert.equal(faultOfHead(keys.mac, head), null);
  assert.ok(head && highestSeen(w.tenant.id) > head.epoch, 'the newer head was seen');
  assert.equal(faultOfHead(keys.mac, { ...head, known: highestSeen(w.tenant.id) })?.kind, 'rolled_back');
});

test('an append that is rolled back leaves entries and head as they were', async () => {
  const w = await workspace();
  await append(w);
  const twice = inTransaction(w.live, async (tx) => {
    await appendCritical(tx, w.live, entry(w));
    await appendCritical(tx, w.live, entry(w));
    throw new Error('the change failed');
  });
  await assert.rejects(twice, /the change failed/);
  await append(w);
  assert.equal(await verdict(w), 'valid');
});

test('an append takes four statements: lock, end of the chain, entries, head', async () => {
  const w = await workspace();
  await append(w);
  const made: string[] = [];
  const counting = (target: object, name: string): object =>
    new Proxy(target, {
      get(of, key) {
        const value: unknown = Reflect.get(of, key);
        if (typeof value === 'function')
          return (...given: unknown[]) => {
            made.push(`${name}${String(key)}`);
            return Reflect.apply(value, of, given) as unknown;
          };
        return typeof value === 'object' && value !== null ? counting(value, `${String(key)}.`) : value;
      },
    });
  await inTransaction(w.live, (tx) => appendCritical(counting(tx, '') as Tx, w.live, entry(w)));
  assert.deepEqual(made, ['$executeRaw', '$queryRaw', 'audit_log_critical.createMany', '$executeRaw']);
});

test('rotations of the root key and of the workspace’s key, and retention, leave chains and published keys as they were', async () => {
  const w = await workspace();
  await append(w);
  await signCheckpoints(new Date());
  const published = await publicKeyDocument();
  const previous = rootKeys().current.key.export().toString('base64');
  Object.assign(process.env, { MASTER_KEY_PREVIOUS_B64: previous, MASTER_KEY_B64: randomBytes(32).toString('base64') });
  restartProcess();
  assert.equal(await verdict(w), 'valid', 'while the rotation runs');
  assert.equal((await rotateRootKey()).remaining, 0);
  delete process.env.MASTER_KEY_PREVIOUS_B64;
  restartProcess();
  await rotateTenantKey(w.live);
  await append(w);
  await pruneAuditLogs([{ tenant_id: w.tenant.id, audit_days: 0, log_days: 0 }], new Date(Date.now() + 86_400_000));
  assert.equal(await verdict(w), 'valid');
  assert.deepEqual(await publicKeyDocument(), published);
});

test('a consistent backup verifies in the processes that start on it; those that ran on the newer state report it', async () => {
  const w = await workspace();
  await append(w);
  const tables = ['audit_log_critical', 'audit_chain_heads', 'audit_checkpoints'];
  const backup = await Promise.all(
    tables.map((table) =>
      sql().query<{ row: string }>(`select to_jsonb(t)::text as row from ${table} t where chain_id = $1`, [w.tenant.id]),
    ),
  );
  await append(w);
  await signCheckpoints(new Date());
  assert.equal(await verdict(w), 'valid');
  for (const [i, table] of tables.entries()) {
    await write(`delete from ${table} where chain_id = $1`, [w.tenant.id]);
    for (const { row } of backup[i]?.rows ?? [])
      await write(`insert into ${table} select * from jsonb_populate_record(null::${table}, $1::jsonb)`, [row]);
  }
  assert.equal(await verdict(w), 'rolled_back');
  restartProcess();
  assert.equal(await verdict(w), 'valid');
  await append(w);
  assert.equal(await verdict(w), 'valid');
});

test('chains from before MACs are sealed once, keep the signing key, and any later edit of them shows', async () => {
  const [whole, broken, idle] = await Promise.all([workspace(), workspace(), workspace()]);
  for (const w of [whole, whole, whole, broken, broken, broken]) await append(w);
  // The database as the release before left it.
  const seed = newSigningSeed();
  const key = signingKeyOf(seed);
  const { sealed, root_key_id } = sealDeploymentValue(rootKeys().current, 'audit_signing_key', seed);
  await write('delete from audit_checkpoints');
  await write('delete from audit_chain_heads');
  await write('update audit_log_critical set mac = null');
  await write(`delete from deployment_values where name = 'audit_keys'`);
  const value = { root_key_id, keys: [{ kid: key.key_id, x: key.x }] };
  await write('insert into deployment_values (name, value, sealed) values ($1, $2, $3)', [
    'audit_signing_key',
    JSON.stringify(value),
    sealed,
  ]);
  await write('delete from audit_log_critical where chain_id = $1 and sequence_number = 2', [broken.tenant.id]);
  restartProcess();

  assert.equal(await verdict(whole), 'valid', 'by links, until the worker has sealed it');
  await append(whole);
  await signCheckpoints(new Date());
  const young = await workspace();
  await append(young);
  assert.equal(await sealChains(new Date()), 0, 'machines of the release before may still write');
  const later = new Date(Date.now() + 25 * 3_600_000);
  assert.ok((await sealChains(later)) >= 4);
  assert.equal(await sealChains(later), 0, 'once');
  assert.equal(await verdict(young), 'valid');
  await append(whole);
  const { valid, checked, baseline } = await verifyChainOf(whole.live, {});
  assert.deepEqual([valid, checked, baseline?.action, baseline?.sequence_number], [true, 6, 'audit_chain.seal', '5']);
  assert.equal((await verifyChainOf(whole.live, { from: 2n, to: 3n })).checked, 2);
  assert.equal(await verdict(broken), 'gap', 'what was broken before is not made whole by the upgrade');
  assert.equal(await verdict(idle), 'valid');
  assert.equal((await publicKeyDocument()).keys[0]?.kid, key.key_id);
  assert.equal(await db().deployment_values.count({ where: { name: 'audit_signing_key' } }), 0);
  await signCheckpoints(new Date());
  assert.equal(await db().audit_checkpoints.count({ where: { chain_id: broken.tenant.id } }), 0);

  await write(`update audit_log_critical set user_agent = 'edited' where chain_id = $1 and sequence_number = 1`, [whole.tenant.id]);
  assert.equal(await verdict(whole), 'history_mismatch');
  await write('delete from audit_chain_heads where chain_id = $1', [idle.tenant.id]);
  assert.equal(await verdict(idle), 'head_missing', 'no chain is from before heads any more');
});

test('Owners hear once of a chain that failed, by mail and by event', async () => {
  const w = await workspace();
  await append(w);
  await (await dashboardPerson()).join(w.tenant.id, 'owner');
  const events = await watchEvents(w.live, 'audit_chain.failed');
  await write('delete from audit_log_critical where chain_id = $1', [w.tenant.id]);
  await append(w);
  await verifyAllChains();
  await verifyAllChains();
  assert.deepEqual(
    (await events()).map(({ type, about }) => [type, about]),
    [['audit_chain.failed', w.tenant.id]],
  );
  assert.equal(await db().mails.count({ where: { kind: 'audit_chain', subject: { contains: w.tenant.name } } }), 1);
});
