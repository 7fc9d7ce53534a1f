import assert from 'node:assert/strict';
import test from 'node:test';
import { FIRST_ID, fillAuthorship } from '#server/platform/authorship.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { asMember, sharedClient } from './members.fixture.ts';

await ownDatabase();

test('what was made before the register is found by the audit log', async () => {
  const w = await workspace();
  const boss = await asMember(w.member('owner'));
  const admin = await asMember(w.member('admin'));
  const client = await sharedClient(boss);
  await verified(admin, 'oauth.client');
  await made(admin, 'oauth_clients.rotate_secret', { id: client.id });
  const inbound = await made(admin, 'inbound_webhooks.create', { name: 'in', format: 'stripe' });
  const webhook = await made(boss, 'webhooks.create', { name: 'w', url: 'https://x.example.net/y', event_types: ['request.success'] });
  await made(admin, 'webhooks.rotate_secret', { id: webhook.id });
  const holder = await made(boss, 'clients.create', { name: fresh('c'), ip_address: '203.0.113.7' });
  const credential = await made(admin, 'clients.create_credential', { id: holder.id, kind: 'ip', data: { value: '198.51.100.0/24' } });
  const tables = ['oauth_client_secrets', 'inbound_webhooks', 'webhook_secrets', 'client_credentials'];
  for (const table of tables) await sql().query(`update ${table} set made_by = null where tenant_id = $1`, [w.tenant.id]);
  await fillAuthorship((text, values) => sql().query(text, values), FIRST_ID);
  const makers = async (table: string) =>
    (
      await sql().query<{ made_by: string }>(`select made_by from ${table} where tenant_id = $1 order by created_at, id`, [w.tenant.id])
    ).rows.map(({ made_by }) => (made_by === admin.actor.id ? 'admin' : made_by === boss.actor.id ? 'owner' : made_by));
  assert.deepEqual(await makers('oauth_client_secrets'), ['owner', 'admin']);
  assert.deepEqual(await makers('webhook_secrets'), ['owner', 'admin']);
  assert.deepEqual(await makers('inbound_webhooks'), ['admin']);
  assert.ok(inbound.id);
  assert.equal((await db().client_credentials.findUniqueOrThrow({ where: { id: credential.id } })).made_by, admin.actor.id);
});
