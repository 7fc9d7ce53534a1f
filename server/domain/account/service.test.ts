import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

const unlimited = (tenantId: string, kind: string) =>
  db().tenant_limit_overrides.create({ data: { tenant_id: tenantId, kind, value: null } });

test('what is without a limit is null in the usage, never 0: calls, things and days of retention', async () => {
  const w = await workspace({ plan: 'free' });
  const free = await made(w.live, 'account.usage');
  assert.deepEqual([free.log_retention_days, free.audit_retention_days], [3, 7]);
  for (const kind of ['log_retention_days', 'audit_retention_days', 'api_calls', 'routes']) await unlimited(w.tenant.id, kind);
  const usage = await made(w.live, 'account.usage');
  assert.deepEqual([usage.log_retention_days, usage.audit_retention_days], [null, null]);
  assert.deepEqual(usage.api_calls, { used: 0, limit: null, percentage: 0 });
  assert.equal((usage.resources as Record<string, { limit: number | null }>).routes?.limit, null);
  assert.equal((await made(w.test, 'account.usage')).log_retention_days, 7, 'Test keeps a week on every plan');
});
