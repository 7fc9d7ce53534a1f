import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import test, { after } from 'node:test';
import { freePort } from '#scripts/ports.ts';
import type { KmsPlace } from '#server/crypto/keyring.ts';
import { until } from '#server/testing/until.ts';
import { startKmsServer } from './kms-server.fixture.ts';
import { forgetKmsSessions, probeKms, unwrapAt, wrapByKms } from './provider.ts';

const kms = await startKmsServer();
Object.assign(process.env, {
  SVC_TEST_MODE: '1',
  AWS_ENDPOINT_URL: kms.url,
  AWS_ACCESS_KEY_ID: 'operator',
  AWS_SECRET_ACCESS_KEY: 'operator',
  AWS_EC2_METADATA_DISABLED: 'true',
  UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8',
  METADATA_SERVER_DETECTION: 'assume-present',
  GCE_METADATA_HOST: new URL(kms.url).host,
  KMS_TEST_GCP_URL: kms.url,
  KMS_TEST_AZURE_URL: kms.url,
  AZURE_BYOK_ACME: 'app-secret',
});
after(() => kms.close());

const guid = '11111111-2222-4333-8444-555555555555';
const places: Record<string, KmsPlace> = {
  aws: {
    provider: 'aws',
    key_ref: 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
    config: { region: 'eu-central-1', role_arn: 'arn:aws:iam::111122223333:role/svc-kms-access', external_id: guid },
    key_version: null,
  },
  gcp: {
    provider: 'gcp',
    key_ref: 'projects/acme-prod/locations/europe-west3/keyRings/svc/cryptoKeys/svc-tenant-wrapping',
    config: { impersonate_service_account: 'svc-kms-sa@acme-prod.iam.gserviceaccount.com' },
    key_version: null,
  },
  azure: {
    provider: 'azure',
    key_ref: 'https://acme-kv.vault.azure.net/keys/svc-tenant-wrapping',
    config: {
      vault_url: 'https://acme-kv.vault.azure.net',
      azure_tenant_id: guid,
      client_id: guid,
      client_secret_env_var: 'AZURE_BYOK_ACME',
    },
    key_version: null,
  },
};

for (const [name, place] of Object.entries(places)) {
  test(`${name}: wraps and unwraps by the customer's identity, bound to workspace and version`, async () => {
    kms.mood = 'ok';
    kms.calls.length = 0;
    const [tenantId, key] = [randomUUID(), randomBytes(32)];
    const { blob, key_version } = await wrapByKms(place, { tenantId, version: 2 }, key);
    const wrapped = { ...place, key_version };
    assert.deepEqual(Buffer.from(await unwrapAt(wrapped, { tenantId, version: 2 }, blob)), key);
    assert.ok(!Buffer.from(blob).includes(key));
    for (const other of [
      { tenantId: randomUUID(), version: 2 },
      { tenantId, version: 3 },
    ])
      await assert.rejects(unwrapAt(wrapped, other, blob), { name: 'KmsFailure', reason: 'access_denied' });
    assert.ok(kms.calls.length > 0, 'the SDK asked the server');
  });

  test(`${name}: a disabled key and a missing grant are access_denied at once, an outage is unreachable after three tries`, async () => {
    const tenantId = randomUUID();
    kms.mood = 'ok';
    await probeKms(place, tenantId);
    for (const mood of ['disabled', 'denied'] as const) {
      kms.mood = mood;
      await assert.rejects(probeKms(place, tenantId), { name: 'KmsFailure', reason: 'access_denied' });
    }
    kms.mood = 'down';
    await assert.rejects(probeKms(place, tenantId), { name: 'KmsFailure', reason: 'unreachable' });
    kms.mood = 'ok';
    await probeKms(place, tenantId);
  });

  test(`${name}: an answer longer than any of a KMS is read no further, of the exchange and of the key`, async () => {
    for (const warm of [false, true]) {
      await forgetKmsSessions();
      const tenantId = randomUUID();
      kms.mood = 'ok';
      if (warm) await probeKms(place, tenantId);
      kms.mood = 'floods';
      await assert.rejects(probeKms(place, tenantId), { name: 'KmsFailure', reason: 'unreachable' });
    }
    kms.mood = 'ok';
    await probeKms(place, randomUUID());
  });
}

test('aws: the role is assumed with the external ID, once per session, and each call names the workspace', async () => {
  await forgetKmsSessions();
  kms.calls.length = 0;
  const tenantId = randomUUID();
  const place = places.aws as KmsPlace;
  for (let i = 0; i < 3; i++) await probeKms(place, tenantId);
  assert.equal(kms.calls.filter((call) => call === 'aws.AssumeRole').length, 1);
  assert.deepEqual([kms.seen.role, kms.seen.externalId], [place.config.role_arn, guid]);
  assert.deepEqual(kms.seen.context, { svc_tenant: tenantId, svc_purpose: 'tmk', svc_version: '0' });
  await probeKms(place, randomUUID());
  assert.equal(kms.calls.filter((call) => call === 'aws.AssumeRole').length, 2, 'no other workspace uses its session');
});

test('gcp: the service account is impersonated, and the associated data is the AAD of the key', async () => {
  await forgetKmsSessions();
  const tenantId = randomUUID();
  await probeKms(places.gcp as KmsPlace, tenantId);
  assert.equal(kms.seen.principal, 'svc-kms-sa@acme-prod.iam.gserviceaccount.com');
  assert.equal(kms.seen.aad, `svt1|tmk|${tenantId}|0`);
});

test('gcp: a redirect is refused and not followed, of the exchange and of the key', async () => {
  const place = places.gcp as KmsPlace;
  for (const warm of [false, true]) {
    await forgetKmsSessions();
    const tenantId = randomUUID();
    kms.mood = 'ok';
    if (warm) await probeKms(place, tenantId);
    kms.mood = 'redirects';
    kms.asked.length = 0;
    await assert.rejects(probeKms(place, tenantId), { name: 'KmsFailure' });
    assert.ok(!kms.asked.includes('/elsewhere'));
    assert.match(kms.asked.at(-1) ?? '', warm ? /:encrypt$/ : /:generateAccessToken$/);
  }
  kms.mood = 'ok';
});

test('a provider that the service does not have, and the one of tests outside of them, wrap nothing', async () => {
  await assert.rejects(probeKms({ provider: 'vault', key_ref: 'x', config: {}, key_version: null }, randomUUID()), {
    reason: 'access_denied',
  });
});

const moto = process.env.MOTO_SERVER;
test('aws: moto’s KMS and STS, with IAM enforced: a role that loses its policy is refused', {
  skip: moto ? false : 'MOTO_SERVER is not set',
}, async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(moto as string, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  try {
    await until(() => fetch(url).catch(() => undefined));
    process.env.AWS_ENDPOINT_URL = url;
    const call = async (service: string, body: URLSearchParams | string, headers: Record<string, string> = {}) => {
      const answer = await fetch(url, {
        method: 'POST',
        body: body.toString(),
        headers: {
          'content-type': typeof body === 'string' ? 'application/x-amz-json-1.1' : 'application/x-www-form-urlencoded',
          authorization: `AWS4-HMAC-SHA256 Credential=operator/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=x`,
          ...headers,
        },
      });
      const text = await answer.text();
      assert.ok(answer.ok, text);
      return text;
    };
    const iam = (Action: string, form: Record<string, string>) =>
      call('iam', new URLSearchParams({ Action, Version: '2010-05-08', ...form }));
    const made = await call('kms', '{}', { 'x-amz-target': 'TrentService.CreateKey' });
    const { KeyMetadata } = JSON.parse(made) as { KeyMetadata: { Arn: string } };
    const policy = (Action: string) => JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource: '*' }] });
    await iam('CreateRole', { RoleName: 'svc-kms-access', AssumeRolePolicyDocument: policy('sts:AssumeRole') });
    await iam('PutRolePolicy', { RoleName: 'svc-kms-access', PolicyName: 'kms', PolicyDocument: policy('kms:*') });
    await iam('CreateUser', { UserName: 'operator' });
    await iam('PutUserPolicy', { UserName: 'operator', PolicyName: 'sts', PolicyDocument: policy('sts:AssumeRole') });
    const keys = await iam('CreateAccessKey', { UserName: 'operator' });
    process.env.AWS_ACCESS_KEY_ID = /<AccessKeyId>(.*?)</.exec(keys)?.[1] as string;
    process.env.AWS_SECRET_ACCESS_KEY = /<SecretAccessKey>(.*?)</.exec(keys)?.[1] as string;
    const account = KeyMetadata.Arn.split(':')[4];
    const place: KmsPlace = {
      provider: 'aws',
      key_ref: KeyMetadata.Arn,
      config: { region: 'us-east-1', role_arn: `arn:aws:iam::${account}:role/svc-kms-access`, external_id: guid },
      key_version: null,
    };
    await forgetKmsSessions();
    const tenantId = randomUUID();
    const { blob } = await wrapByKms(place, { tenantId, version: 1 }, randomBytes(32));
    await iam('DeleteRolePolicy', { RoleName: 'svc-kms-access', PolicyName: 'kms' });
    const enforced = await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: '0' });
    assert.ok(enforced.ok);
    await assert.rejects(unwrapAt(place, { tenantId, version: 1 }, blob), { name: 'KmsFailure', reason: 'access_denied' });
    await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: '1000000' });
    await iam('PutRolePolicy', { RoleName: 'svc-kms-access', PolicyName: 'kms', PolicyDocument: policy('kms:*') });
    await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: '0' });
    assert.equal((await unwrapAt(place, { tenantId, version: 1 }, blob)).length, 32);
    await assert.rejects(unwrapAt(place, { tenantId, version: 2 }, blob), { reason: 'access_denied' });
  } finally {
    child.kill();
  }
});
