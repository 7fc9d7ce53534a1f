import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { startGateway } from '#server/gateway/gateway.fixture.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';

await ownDatabase();

async function seed(settings: Record<string, string> = {}) {
  const env = { ...process.env, ...settings };
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'scripts/seed.ts'], { env });
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { stdout, stderr, status: status as number | null };
}
const slug = 'playground';
const owners = () => db().memberships.count({ where: { tenant: { slug }, role: 'owner' } });

test('the account with the well-known password comes neither into production nor into a workspace of somebody else', async () => {
  const production = await seed({ NODE_ENV: 'production' });
  assert.deepEqual([production.status, production.stdout], [1, '']);
  assert.match(production.stderr, /doesn't run in production/);
  assert.equal(await db().users.count(), 0);

  const { provisionTenant } = await import('#server/domain/operator/service.ts');
  const { id } = await provisionTenant({ slug, owner_email: 'you@example.com' });
  const foreign = await seed();
  assert.deepEqual([foreign.status, foreign.stdout], [1, '']);
  assert.match(foreign.stderr, /did not create already exists\. It was left unchanged/);
  assert.equal(await owners(), 1);
  assert.equal(await db().api_keys.count({ where: { tenant_id: id } }), 0);
  await db().tenants.update({ where: { id }, data: { slug: 'mine' } });
});

test('the seed makes its workspace once and a key each time, and while the service runs it makes calls through it, refused ones too', async () => {
  const { port } = await startGateway();
  for (const run of [1, 2]) {
    const { status, stdout, stderr } = await seed({ PLANE_PORTS: `api:1,sandbox:2,admin:3,proxy:${run === 1 ? 4 : port}` });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /Workspace playground is ready/);
    assert.match(stdout, run === 1 ? /none were sent: .*Run this again while npm start is running/ : /38 succeeded and 8 were refused: /);
    const tenant = await db().tenants.findUniqueOrThrow({ where: { slug } });
    assert.equal(await db().routes.count({ where: { tenant_id: tenant.id, sandbox: true } }), 4);
    assert.equal(await db().api_keys.count({ where: { tenant_id: tenant.id } }), run);
  }
  assert.equal(await owners(), 1);
});
