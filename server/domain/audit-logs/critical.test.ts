import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { browseCritical, exportCritical, verifyChainOf } from './chain-pages.ts';
import { appendCritical } from './critical.ts';
import { verifyAllChains } from './failures.ts';
import { publicKeyDocument, signCheckpoints } from './signing.ts';

const { directory } = await ownDatabase();
const run = promisify(execFile);

const append = (ctx: Ctx, details: Record<string, unknown> = {}) =>
  inTransaction(ctx, (tx) =>
    appendCritical(tx, ctx, { action: 'byok.kms.rotate', resource_type: 'tenant_master_key', resource_id: ctx.tenant_id, details }),
  );

/** What only somebody with the database itself in hand can do. */
async function tamper(statement: string, values: unknown[]) {
  await sql().query('alter table audit_log_critical disable trigger user');
  await sql().query(statement, values);
  await sql().query('alter table audit_log_critical enable trigger user');
}

test('a hundred parallel appends number the chain 1 to 100 with every link in place', async () => {
  const w = await workspace();
  await Promise.all(Array.from({ length: 100 }, (_, i) => append(i % 2 ? w.test : w.live, { i, note: 'ünïcode ✓' })));
  const verdict = await verifyChainOf(w.live, {});
  assert.deepEqual(
    { ...verdict, head_hash: null },
    { valid: true, checked: 100, first: '1', last: '100', head_hash: null, failure: null, baseline: null },
  );
  assert.equal((await verifyChainOf(w.live, { from: 40n, to: 60n })).checked, 21);
});

test('an entry belongs to the change: rolled back together, and refused as audit_unavailable when it cannot be written', async () => {
  const w = await workspace();
  await assert.rejects(
    inTransaction(w.live, async (tx) => {
      await appendCritical(tx, w.live, { action: 'byok.kms.rotate', resource_type: 'tenant_master_key', resource_id: 'x' });
      throw new Error('the change failed');
    }),
    /the change failed/,
  );
  await assert.rejects(append(w.live, { fraction: 0.5 }), { type: 'audit_unavailable', status: 503 });
  assert.equal((await verifyChainOf(w.live, {})).checked, 0);
});

test('the chain refuses update, delete, truncate and a forged insert, even from the owner of the table', async () => {
  const w = await workspace();
  await append(w.live);
  for (const statement of ['update audit_log_critical set action = $1', 'delete from audit_log_critical where action <> $1'])
    await assert.rejects(sql().query(statement, ['x']), /never changed/);
  await assert.rejects(sql().query('truncate audit_log_critical'), /never changed/);
  await assert.rejects(
    sql().query(
      `insert into audit_log_critical (id, chain_id, sequence_number, prev_hash, row_hash, at, tenant_id, action, resource_type, resource_id, details)
       select gen_random_uuid(), chain_id, 9, row_hash, row_hash, at, tenant_id, action, resource_type, resource_id, details from audit_log_critical where chain_id = $1`,
      [w.tenant.id],
    ),
    /does not follow the chain/,
  );
  await assert.rejects(
    inTransaction(w.live, (tx) => tx.$executeRaw`delete from audit_log_critical`),
    /permission denied/,
  );
});

test('an altered, a removed and a cut-off row are each reported with their number', async () => {
  const make = async () => {
    const w = await workspace();
    for (let i = 0; i < 5; i++) await append(w.live, { i });
    return w;
  };
  const altered = await make();
  await tamper(`update audit_log_critical set details = jsonb_set(details, '{i}', '7') where chain_id = $1 and sequence_number = 3`, [
    altered.tenant.id,
  ]);
  assert.deepEqual((await verifyChainOf(altered.live, {})).failure, { sequence_number: '3', kind: 'hash_mismatch' });
  assert.equal((await verifyChainOf(altered.live, { from: 4n })).valid, true, 'a part that starts behind the damage is right in itself');

  const removed = await make();
  await tamper('delete from audit_log_critical where chain_id = $1 and sequence_number = 4', [removed.tenant.id]);
  assert.deepEqual((await verifyChainOf(removed.live, {})).failure, { sequence_number: '5', kind: 'gap' });
  assert.deepEqual((await verifyChainOf(removed.live, { from: 5n })).failure, { sequence_number: '4', kind: 'gap' });

  const cut = await make();
  await signCheckpoints(new Date());
  await tamper('delete from audit_log_critical where chain_id = $1 and sequence_number = 5', [cut.tenant.id]);
  assert.deepEqual(
    (await verifyChainOf(cut.live, {})).failure,
    { sequence_number: '5', kind: 'gap' },
    'the end is missing: only the signed checkpoint knows',
  );

  const failed = (await verifyAllChains()).failed;
  const failureOf = (w: { tenant: { id: string } }) => failed.find((f) => f.chain_id === w.tenant.id)?.failure?.kind;
  assert.deepEqual([altered, removed, cut].map(failureOf), ['hash_mismatch', 'gap', 'gap']);
});

test('a chain rewritten with right hashes lacks the MAC that only the root key gives', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  await append(w.live, { amount: 1 });
  await signCheckpoints(new Date());
  assert.equal(await signCheckpoints(new Date()), 0, 'an unchanged chain gets no second checkpoint');
  await append(other.live, { amount: 2 });
  const forged = await db().audit_log_critical.findFirstOrThrow({ where: { chain_id: w.tenant.id } });
  const { rowHash } = await import('#server/crypto/chain.ts');
  const details = { ...(forged.details as object), amount: 2 };
  await tamper('update audit_log_critical set details = $2, row_hash = $3 where chain_id = $1', [
    w.tenant.id,
    JSON.stringify(details),
    rowHash({ ...forged, details }),
  ]);
  assert.deepEqual((await verifyChainOf(w.live, {})).failure, { sequence_number: '1', kind: 'mac_mismatch' });
});

test('the chain is read page by page, by its own workspace only', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  for (let i = 0; i < 3; i++) await append(w.live, { i });
  const first = await browseCritical(w.live, { limit: 2 });
  assert.deepEqual([first.entries.map((e) => e.sequence_number), first.next_after, first.head?.sequence_number], [['1', '2'], '2', '3']);
  const second = await browseCritical(w.live, { limit: 2, after: 2n });
  assert.deepEqual([second.entries.map((e) => e.sequence_number), second.next_after], [['3'], null]);
  assert.match(second.entries[0]?.row_hash ?? '', /^[0-9a-f]{64}$/);
  assert.deepEqual((await browseCritical(other.live, { limit: 2 })).entries, []);
});

test('the stand-alone verifier accepts a real export with its keys, and no edited one', async () => {
  const w = await workspace();
  for (let i = 0; i < 30; i++) await append(w.live, { i, text: `line\n"${i}" é ${'x'.repeat(2000)}` });
  const text = await textOf(await exportCritical(w.live));
  const keys = path.join(directory, 'keys.json');
  writeFileSync(keys, JSON.stringify(await publicKeyDocument()));
  const check = async (content: string, extra: string[] = []) => {
    const file = path.join(directory, 'export.jsonl');
    writeFileSync(file, content);
    return run(process.execPath, ['public/verify-audit-chain.mjs', file, ...extra]).then(
      ({ stdout }) => ({ code: 0, says: stdout }),
      (error: { code: number; stderr: string }) => ({ code: error.code, says: error.stderr }),
    );
  };
  assert.match((await check(text, ['--keys', keys])).says, /^VALID: 30 rows .* up to 30/);
  assert.match((await check(text)).says, /^VALID/);
  const lines = text.trimEnd().split('\n');
  const edited = lines.map((l, i) => (i === 4 ? l.replace('"i":4', '"i":5') : l)).join('\n');
  assert.match((await check(edited)).says, /row 5 .* shows another details/);
  assert.match((await check(lines.toSpliced(6, 1).join('\n'))).says, /row 8 .* stands where 7 is due/);
  assert.match((await check(lines.toSpliced(29, 1).join('\n'))).says, /rows are missing at the end/);
  assert.match((await check(lines.slice(0, -1).join('\n'))).says, /signature is missing/);
  const trailer = JSON.parse(lines.at(-1) ?? '') as { head: { at: string } };
  trailer.head.at = '2031-01-01T00:00:00.000Z';
  assert.deepEqual(await check([...lines.slice(0, -1), JSON.stringify(trailer)].join('\n')), {
    code: 1,
    says: 'NOT VALID: the signature does not hold\n',
  });
  writeFileSync(keys, JSON.stringify({ keys: [] }));
  assert.equal((await check(text, ['--keys', keys])).code, 1);
  assert.equal((await check(text, ['--keys'])).code, 2);
});

test('the keys exist once and sealed as a whole, and no column names a public key', async () => {
  const [a, b] = await Promise.all([publicKeyDocument(), publicKeyDocument()]);
  assert.deepEqual(a, b);
  assert.deepEqual(Object.keys(a.keys[0] ?? {}), ['kty', 'crv', 'alg', 'use', 'kid', 'x']);
  const row = await db().deployment_values.findUniqueOrThrow({ where: { name: 'audit_keys' } });
  assert.deepEqual(row.value, { root_key_id: rootKeys().current.id });
});
