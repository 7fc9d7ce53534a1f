import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test, { after } from 'node:test';
import { startKmsServer } from './kms-server.fixture.ts';
import { probeKms } from './provider.ts';

// As providers.test.ts, but nothing on this machine may be called.

const kms = await startKmsServer();
after(() => kms.close());
Object.assign(process.env, {
  SVC_TEST_MODE: '1',
  UPSTREAM_PRIVATE_ALLOWLIST: '',
  METADATA_SERVER_DETECTION: 'assume-present',
  GCE_METADATA_HOST: new URL(kms.url).host,
  KMS_TEST_GCP_URL: kms.url,
});

test('gcp: neither the exchange of tokens nor the key is reached past the guard', async () => {
  const place = {
    provider: 'gcp',
    key_ref: 'projects/acme-prod/locations/europe-west3/keyRings/svc/cryptoKeys/svc-tenant-wrapping',
    config: { impersonate_service_account: 'svc-kms-sa@acme-prod.iam.gserviceaccount.com' },
    key_version: null,
  };
  await assert.rejects(probeKms(place, randomUUID()), { name: 'KmsFailure', reason: 'unreachable', detail: 'upstream_not_allowed' });
  assert.ok(kms.asked.includes('/computeMetadata/v1/instance/service-accounts/default/token'), "the operator's own token was asked for");
  assert.deepEqual(
    kms.asked.filter((path) => !path.startsWith('/computeMetadata/')),
    [],
  );
});
