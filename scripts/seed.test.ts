import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';

await testDatabase();

function seed(settings: Record<string, string> = {}) {
  const env = { ...process.env, ...settings };
  return spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', 'scripts/seed.ts'], { encoding: 'utf8', env });
}
const slug = 'playground';
const owners = () => db().memberships.count({ where: { tenant: { slug }, role: 'owner' } });

test('the account with the well-known password comes neither into production nor into a workspace of somebody else', async () => {
  const production = seed({ NODE_ENV: 'production' });
  assert.deepEqual([production.status, production.stdout], [1, '']);
  assert.match(production.stderr, /not in production/);
  assert.equal(await db().users.count(), 0);

  const { provisionTenant } = await import('#server/domain/operator/service.ts');
  const { id } = await provisionTenant({ slug, owner_email: 'you@example.com' });
  const foreign = seed();
  assert.deepEqual([foreign.status, foreign.stdout], [1, '']);
  assert.match(foreign.stderr, /did not make; it is left alone/);
  assert.equal(await owners(), 1);
  assert.equal(await db().api_keys.count({ where: { tenant_id: id } }), 0);
  await db().tenants.update({ where: { id }, data: { slug: 'mine' } });
});

test('the seed makes its workspace once, and a key each time', async () => {
  for (const run of [1, 2]) {
    const { status, stdout, stderr } = seed();
    assert.equal(status, 0, stderr);
    assert.match(stdout, /Workspace playground is ready/);
    const tenant = await db().tenants.findUniqueOrThrow({ where: { slug } });
    assert.equal(await db().routes.count({ where: { tenant_id: tenant.id, sandbox: true } }), 3);
    assert.equal(await db().api_keys.count({ where: { tenant_id: tenant.id } }), run);
  }
  assert.equal(await owners(), 1);
});
