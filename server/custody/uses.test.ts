import assert from 'node:assert/strict';
import test from 'node:test';
import type { AuditEntry } from '#server/kernel/audit-entry.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { ownSql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { storedKey } from '#server/testing/stored-keys.ts';
import { refuseAuditEntries } from '#server/testing/suites/audit.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { countUse, writeCounts } from './counts.ts';
import { findKey, type UsableKey } from './keys.ts';
import { auditFirst, flushUses, recordUse } from './uses.ts';

await testDatabase();

const entry = (resource_id: string, details: Record<string, unknown> = {}): AuditEntry => ({
  action: 'execute',
  resource_type: 'crypto_key',
  resource_id,
  name: 'cards',
  details: { operation: 'encrypt', key_version: 1, bytes: 10, ...details },
});
const entriesOf = (w: Workspace, sandbox = false) =>
  db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, sandbox }, orderBy: { seq: 'asc' } });

test('an entry that must come first is durable when the call goes on, with caller, request and space', async () => {
  const w = await workspace();
  const id = newId();
  const ctxs = [w.live, w.test, w.live];
  await Promise.all(ctxs.map((ctx, i) => auditFirst({ ...ctx, request_id: newId() }, [entry(id, { nth: i })])));
  const [live, sandboxed] = [await entriesOf(w), await entriesOf(w, true)];
  assert.deepEqual([live.length, sandboxed.length], [2, 1]);
  const [first] = live;
  assert.deepEqual(
    [first?.action, first?.resource_type, first?.resource_id, first?.actor_type, first?.ip_address, first?.user_agent],
    ['execute', 'crypto_key', id, 'api_key', '127.0.0.1', 'test'],
  );
  const details = first?.details as Record<string, unknown>;
  assert.deepEqual([details.name, details.sandbox, details.request_id, details.bytes], ['cards', false, first?.request_id, 10]);
});

test('entries that arrive together share a commit', async (t) => {
  const w = await workspace();
  const query = t.mock.method(ownSql(), 'query');
  await Promise.all(Array.from({ length: 100 }, () => auditFirst(w.live, [entry(newId())])));
  assert.equal(query.mock.callCount(), 1);
  assert.equal((await entriesOf(w)).length, 100);
});

test('without its entry nothing goes on, and the entries of other workspaces are written', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const release = await refuseAuditEntries(w);
  try {
    const [refused, written] = await Promise.allSettled([auditFirst(w.live, [entry(newId())]), auditFirst(other.live, [entry(newId())])]);
    assert.equal(refused.status, 'rejected');
    const { type, retryAfter } =
      refused.status === 'rejected' ? (refused.reason as { type: string; retryAfter: number }) : { type: '', retryAfter: 0 };
    assert.deepEqual([type, retryAfter, written.status], ['audit_unavailable', 5, 'fulfilled']);
  } finally {
    await release();
  }
  assert.deepEqual([(await entriesOf(w)).length, (await entriesOf(other)).length], [0, 1]);
});

test('an entry that the database refuses takes no other with it', async () => {
  const w = await workspace();
  const wrong = { ...w.live, now: new Date(Number.NaN) };
  const [refused, written] = await Promise.allSettled([auditFirst(wrong, [entry(newId())]), auditFirst(w.live, [entry(newId())])]);
  assert.deepEqual([refused.status, written.status], ['rejected', 'fulfilled']);
});

test('recorded uses are written soon, one by one up to a hundred a second and then as counts', async () => {
  const w = await workspace();
  const [id, other] = [newId(), newId()];
  for (let i = 0; i < 1_000; i++) recordUse(w.live, entry(id, { key_version: i < 990 ? 1 : 2 }));
  recordUse(w.live, entry(other));
  await flushUses();
  const rows = await entriesOf(w);
  const details = rows.filter(({ resource_id }) => resource_id === id).map((row) => row.details as Record<string, number>);
  // A second may have ended meanwhile.
  assert.ok(details.length >= 101 && details.length <= 202, String(details.length));
  assert.equal(
    details.reduce((sum, { count = 1 }) => sum + count, 0),
    1_000,
  );
  assert.equal(
    details.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
    10_000,
  );
  assert.ok(
    details.some(({ count, key_version }) => (count ?? 0) > 100 && key_version === undefined),
    'two versions in one count name none',
  );
  assert.equal(rows.filter(({ resource_id }) => resource_id === other).length, 1);
});

test('entries that cannot be written now are written later, once', async () => {
  const w = await workspace();
  const release = await refuseAuditEntries(w);
  recordUse(w.live, entry(newId()));
  await flushUses();
  assert.equal((await entriesOf(w)).length, 0);
  await release();
  await Promise.all([flushUses(), flushUses()]);
  assert.equal((await entriesOf(w)).length, 1);
});

test('while too much waits to be written, uses are refused', async () => {
  const w = await workspace();
  const release = await refuseAuditEntries(w);
  try {
    assert.throws(
      () => {
        for (let i = 0; i <= 10_000; i++) recordUse(w.live, entry(newId()));
      },
      { type: 'audit_unavailable' },
    );
  } finally {
    await release();
    await flushUses();
  }
  recordUse(w.live, entry(newId()));
});

test('uses are counted by key, day and operation, and encryptions by version too', async () => {
  const w = await workspace();
  const stored = await storedKey(w.live, { versions: 2 });
  const key = (await findKey(w.live, stored.name)) as UsableKey;
  const ctx = { ...w.live, now: new Date('2026-08-05T23:59:59Z') };
  for (let i = 0; i < 5; i++) countUse(ctx, key, 'encrypt', 2, 2);
  countUse(ctx, key, 'verify', 1);
  countUse({ ...ctx, now: new Date('2026-08-06T00:00:00Z') }, key, 'rewrap', 1, 2);
  await writeCounts();
  countUse(ctx, key, 'encrypt', 1, 2);
  await writeCounts();
  const uses = await db().crypto_key_uses.findMany({ where: { key_id: stored.id }, orderBy: [{ day: 'asc' }, { operation: 'asc' }] });
  assert.deepEqual(
    uses.map(({ day, operation, n }) => [day.toISOString().slice(0, 10), operation, Number(n)]),
    [
      ['2026-08-05', 'encrypt', 11],
      ['2026-08-05', 'verify', 1],
      ['2026-08-06', 'rewrap', 1],
    ],
  );
  const versions = await db().crypto_key_versions.findMany({ where: { key_id: stored.id }, orderBy: { version: 'asc' } });
  assert.deepEqual(
    versions.map(({ encrypt_count }) => Number(encrypt_count)),
    [0, 12],
  );
});
