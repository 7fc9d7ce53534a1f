import assert from 'node:assert/strict';
import test from 'node:test';
import { inputOf, type KmsFields, stepsOf } from './kms-steps.ts';

const empty: KmsFields = {
  ...{ provider: 'aws', kms_key_ref: '', region: '', role_arn: '', impersonate_service_account: '' },
  ...{ vault_url: '', azure_tenant_id: '', client_id: '', client_secret_env_var: '' },
};
const nobody = { aws_account_id: null, gcp_principal: null, azure_app_id: null };
const us = { aws_account_id: '999988887777', gcp_principal: 'svc@ours.iam.gserviceaccount.com', azure_app_id: 'app-guid' };
const textOf = (fields: Partial<KmsFields>, identity = us) =>
  stepsOf({ ...empty, ...fields }, 'external-1', identity)
    .map(({ code }) => code)
    .join('\n');

test('each provider’s commands name the installation’s identity, and AWS the external ID', () => {
  assert.match(textOf({}), /999988887777[\s\S]*"sts:ExternalId": "external-1"/);
  assert.match(
    textOf({ provider: 'gcp' }),
    /serviceAccount:svc@ours\.iam\.gserviceaccount\.com --role roles\/iam\.serviceAccountTokenCreator/,
  );
  assert.match(textOf({ provider: 'azure' }), /Key Vault Crypto User" --assignee app-guid/);
});

test('what was typed stands in the commands', () => {
  assert.match(textOf({ kms_key_ref: 'arn:aws:kms:eu-west-1:1:key/k' }), /"Resource": "arn:aws:kms:eu-west-1:1:key\/k"/);
  const gcp = textOf({ provider: 'gcp', kms_key_ref: 'projects/acme/locations/europe-west3/keyRings/r/cryptoKeys/k' });
  assert.match(gcp, /--project acme --location europe-west3 --keyring r/);
  assert.match(textOf({ provider: 'azure', vault_url: 'https://acme-kv.vault.azure.net' }), /--vault-name acme-kv/);
});

test('an identity that the operator hasn’t told stands out instead of looking right', () => {
  for (const provider of ['aws', 'gcp', 'azure'] as const) assert.match(textOf({ provider }, nobody as never), /ASK-YOUR-OPERATOR/);
});

test('only fields of the provider are sent, and empty ones not at all', () => {
  const fields = { ...empty, provider: 'azure' as const, kms_key_ref: 'k', vault_url: 'v', role_arn: 'left over' };
  assert.deepEqual(inputOf(fields), { provider: 'azure', kms_key_ref: 'k', config: { vault_url: 'v' } });
});
