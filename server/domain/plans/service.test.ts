import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

const limit = (tenant_id: string, kind: string, value: number) =>
  db().tenant_limit_overrides.upsert({
    where: { tenant_id_kind: { tenant_id, kind } },
    create: { tenant_id, kind, value },
    update: { value },
  });

test('a refusal for the plan names the plan, the limit and the count, in words', async () => {
  const w = await workspace({ plan: 'pro' });
  await made(w.live, 'api_keys.create', { name: 'one' });
  await limit(w.tenant.id, 'api_keys', 1);
  await assert.rejects(made(w.live, 'api_keys.create', { name: 'two' }), {
    type: 'plan_limit',
    status: 402,
    message: /^The pro plan allows 1 API key in this space, and 1 already exists\./,
  });
  await limit(w.tenant.id, 'clients', 0);
  await assert.rejects(made(w.live, 'clients.create', { name: 'c', ip_address: '203.0.113.7' }), {
    status: 403,
    message: /allows 0 clients in this space, and 0 already exist\./,
  });
});

test('a smaller limit takes nothing away: what is there works on, and creating is refused until it fits again', async () => {
  const w = await workspace({ plan: 'pro' });
  const rows = [];
  for (const name of ['a', 'b', 'c']) rows.push(await made(w.live, 'clients.create', { name, ip_address: '203.0.113.7' }));
  await limit(w.tenant.id, 'clients', 2);
  const another = () => made(w.live, 'clients.create', { name: 'd', ip_address: '203.0.113.7' });
  await assert.rejects(another(), { type: 'plan_limit' });
  assert.equal((await made(w.live, 'clients.update', { id: rows[0].id, name: 'still' })).name, 'still');
  await made(w.live, 'clients.delete', { id: rows[0].id });
  await assert.rejects(another(), { type: 'plan_limit' });
  await made(w.live, 'clients.delete', { id: rows[1].id });
  assert.equal((await another()).name, 'd');
});
