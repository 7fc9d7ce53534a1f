import assert from 'node:assert/strict';
import test from 'node:test';
import { runMigrations } from 'graphile-worker';
import { onboardTenantKms, pollSealed, resumeRewraps } from '#server/domain/keys/service.ts';
import { db } from '#server/platform/db.ts';
import { setFakeKms } from '#server/platform/kms/fake.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream } from '../gateway.fixture.ts';

// A workspace under its own KMS, called through the gateway, which asks the KMS itself.

await testDatabase({ SVC_TEST_MODE: '1', KMS_CACHE_SECONDS: '1', KMS_POLL_SECONDS: '1' });
await runMigrations({ pgPool: sql() });
const running = await startGateway();
const upstream = await startUpstream();

test('a KMS key that is taken away under traffic seals the workspace, and the next poll after its return unseals it', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  await makeSecret(w, 'S', { production: 'the credential' });
  await makeRoute(w, 'needs', upstream.url, { inject_headers_json: { 'X-S': '{{secret:S}}' } });
  await makeRoute(w, 'needs-not', upstream.url);
  await onboardTenantKms(w.member('owner'), { provider: 'fake', kms_key_ref: 'fake:gateway', config: {} });
  await resumeRewraps({ pause: 0 });
  await served(running, w);
  const call = (path: string) => ask(running.port, w.tenant.slug, path, { key });
  assert.equal((await call('/needs')).status, 200);
  assert.equal(upstream.seen.at(-1)?.headers['x-s'], 'the credential');

  setFakeKms('fake:gateway', 'deny');
  // Calls never stop, so neither the key nor the decrypted value may live by being used.
  await until(async () => (await call('/needs')).status === 503);
  const before = upstream.seen.length;
  const refused = await call('/needs');
  assert.deepEqual(
    [refused.status, refused.headers['x-svc-error'], refused.headers['retry-after'], refused.headers['x-svc-origin']],
    [503, 'tenant_sealed', '30', 'service'],
  );
  assert.equal(upstream.seen.length, before, 'the upstream was not called');
  assert.equal((await call('/needs-not')).status, 200);
  await until(
    async () => (await db().tenant_kms_configs.findUnique({ where: { tenant_id: w.tenant.id } }))?.sealed_reason === 'access_denied',
  );

  setFakeKms('fake:gateway', null);
  await sql().query("update tenant_kms_configs set polled_at = now() - interval '1 hour' where tenant_id = $1", [w.tenant.id]);
  await pollSealed();
  await until(async () => (await call('/needs')).status === 200);
});
