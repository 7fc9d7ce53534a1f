import assert from 'node:assert/strict';
import test from 'node:test';
import { readConnection } from '#server/custody/connections/connection.ts';
import { openTokens, usableConnection } from '#server/custody/connections/connections.ts';
import { startTokenServer } from '#server/custody/connections/token-server.fixture.ts';
import { encodeTokenSet } from '#server/custody/connections/token-set.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { sealNewValue } from '../values.ts';

await ownDatabase();

test('no token is handed out while its reading cannot be audited, not even to the next who asks', async () => {
  const server = await startTokenServer();
  const w = await workspace();
  const { id } = await made(w.live, 'secrets.create_oauth2', {
    name: fresh('CRM'),
    provider: 'custom',
    grant_type: 'client_credentials',
    client_id: 'sallyport',
    client_secret: 'shh',
    token_url: server.url,
  });
  await db().$executeRawUnsafe(
    `alter table audit_logs add constraint broken check (details->>'operation' <> 'oauth2_token_read') not valid`,
  );
  for (let n = 0; n < 2; n++) await assert.rejects(made(w.live, 'secrets.oauth2_token', { id }), { type: 'audit_unavailable' });
  await db().$executeRawUnsafe('alter table audit_logs drop constraint broken');
  assert.equal((await made(w.live, 'secrets.oauth2_token', { id })).access_token, 'access-1');
  assert.equal(await db().audit_logs.count({ where: { resource_id: id, action: 'execute' } }), 1);
});

test('new credentials of a client are not stored over the refresh token that a refresh is fetching', async () => {
  const server = await startTokenServer();
  const w = await workspace();
  const { id } = await made(w.live, 'secrets.create_oauth2', {
    name: fresh('CRM'),
    provider: 'custom',
    client_id: 'sallyport',
    client_secret: 'shh',
    auth_url: server.url,
    token_url: server.url,
  });
  // As if a person had consented: the server's first refresh token.
  const first = (await (
    await fetch(server.url, { method: 'POST', body: new URLSearchParams({ grant_type: 'authorization_code' }) })
  ).json()) as {
    refresh_token: string;
  };
  const ref = { secretId: id, environment: 'production' };
  const pending = await readConnection(w.live, ref);
  assert.ok(pending);
  const sealed = await sealNewValue(
    w.live,
    encodeTokenSet({ client_secret: 'shh', access_token: 'old', refresh_token: first.refresh_token }),
  );
  const { tenant_id, sandbox } = w.live;
  await db().secret_values.create({
    data: { ...sealed, tenant_id, sandbox, secret_environment_id: pending.id, value_version: 1 },
  });
  await db().secret_environments.update({
    where: { id: pending.id },
    data: { current_value_id: sealed.id, oauth2_status: 'connected', oauth2_expires_at: new Date(0) },
  });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  server.hold = () => released;
  const refreshing = usableConnection(w.live, ref);
  await until(() => server.seen.length === 2, 'the refresh asks');
  await assert.rejects(made(w.live, 'secrets.update_oauth2', { id, client_secret: 'another' }), { type: 'conflict' });
  release();
  assert.equal((await openTokens(w.live, await refreshing)).refresh_token, 'refresh-2');
  await made(w.live, 'secrets.update_oauth2', { id, client_secret: 'another' });
  const after = await readConnection(w.live, ref);
  assert.ok(after);
  const { refresh_token, client_secret } = await openTokens(w.live, after);
  assert.deepEqual([refresh_token, client_secret], ['refresh-2', 'another']);
});
