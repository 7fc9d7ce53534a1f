import type { ProviderName } from '#server/domain/keys/providers.shared.ts';
import { SUGGESTED } from '#server/domain/keys/providers.shared.ts';

// What a customer does on their side before the service may use a key there, as commands they can read and run.

export type Identity = { aws_account_id: string | null; gcp_principal: string | null; azure_app_id: string | null };
export type Step = { id: string; label: string; language: 'json' | 'bash'; code: string };
export type KmsFields = {
  provider: ProviderName;
  kms_key_ref: string;
  region: string;
  role_arn: string;
  impersonate_service_account: string;
  vault_url: string;
  azure_tenant_id: string;
  client_id: string;
  client_secret_env_var: string;
};

/** Stands where the operator of the installation hasn't said who the service is. */
export const ASK_OPERATOR = 'ASK-YOUR-OPERATOR';

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** The commands of a provider, in order, with the identity of this installation and what was typed so far. */
export function stepsOf(fields: KmsFields, externalId: string, identity: Identity): [Step, ...Step[]] {
  switch (fields.provider) {
    case 'aws':
      return aws(fields, externalId, identity.aws_account_id ?? ASK_OPERATOR);
    case 'gcp':
      return gcp(fields, identity.gcp_principal ?? ASK_OPERATOR);
    case 'azure':
      return azure(fields, identity.azure_app_id ?? ASK_OPERATOR);
  }
}

function aws({ kms_key_ref, region }: KmsFields, externalId: string, account: string): [Step, ...Step[]] {
  const trust = {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { AWS: `arn:aws:iam::${account}:root` },
        Action: 'sts:AssumeRole',
        Condition: { StringEquals: { 'sts:ExternalId': externalId } },
      },
    ],
  };
  const use = {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: ['kms:Encrypt', 'kms:Decrypt', 'kms:DescribeKey'], Resource: kms_key_ref || 'YOUR-KEY-ARN' }],
  };
  const where = region || 'eu-central-1';
  return [
    {
      id: 'key',
      label: 'Key',
      language: 'bash',
      code: `aws kms create-key --region ${where} --description "Wraps the keys of our workspace"
aws kms create-alias --region ${where} --alias-name alias/${SUGGESTED.key} --target-key-id KEY-ID`,
    },
    { id: 'trust', label: 'Trust policy', language: 'json', code: json(trust) },
    { id: 'policy', label: 'Key policy', language: 'json', code: json(use) },
    {
      id: 'role',
      label: 'Role',
      language: 'bash',
      code: `aws iam create-role --role-name ${SUGGESTED.role} --assume-role-policy-document file://trust.json
aws iam put-role-policy --role-name ${SUGGESTED.role} --policy-name kms --policy-document file://policy.json`,
    },
  ];
}

function gcp({ kms_key_ref, impersonate_service_account }: KmsFields, principal: string): [Step, ...Step[]] {
  const [, project = 'PROJECT', , location = 'LOCATION', , ring = 'svc', , key = SUGGESTED.key] = kms_key_ref.split('/');
  const account = impersonate_service_account || `${SUGGESTED.service_account}@${project}.iam.gserviceaccount.com`;
  const at = `--project ${project} --location ${location}`;
  return [
    {
      id: 'key',
      label: 'Key',
      language: 'bash',
      code: `gcloud kms keyrings create ${ring} ${at}
gcloud kms keys create ${key} ${at} --keyring ${ring} --purpose encryption`,
    },
    {
      id: 'account',
      label: 'Service account',
      language: 'bash',
      code: `gcloud iam service-accounts create ${account.split('@')[0]} --project ${project}
gcloud kms keys add-iam-policy-binding ${key} ${at} --keyring ${ring} \\
  --member serviceAccount:${account} --role roles/cloudkms.cryptoKeyEncrypterDecrypter`,
    },
    {
      id: 'grant',
      label: 'Grant us',
      language: 'bash',
      code: `gcloud iam service-accounts add-iam-policy-binding ${account} --project ${project} \\
  --member serviceAccount:${principal} --role roles/iam.serviceAccountTokenCreator`,
    },
  ];
}

function azure({ vault_url, kms_key_ref }: KmsFields, app: string): [Step, ...Step[]] {
  const vault = /^https:\/\/([a-z0-9-]+)\./.exec(vault_url || kms_key_ref)?.[1] ?? 'VAULT';
  return [
    {
      id: 'key',
      label: 'Vault and key',
      language: 'bash',
      code: `az keyvault create --name ${vault} --resource-group GROUP --enable-rbac-authorization true
az keyvault key create --vault-name ${vault} --name ${SUGGESTED.key} --kty RSA --size 3072 --ops wrapKey unwrapKey`,
    },
    {
      id: 'grant',
      label: 'Grant us',
      language: 'bash',
      code: `az role assignment create --role "Key Vault Crypto User" --assignee ${app} \\
  --scope $(az keyvault show --name ${vault} --query id --output tsv)`,
    },
  ];
}

/** What is sent: only what belongs to the provider, and of what may stay empty only what was typed. */
export function inputOf(fields: KmsFields) {
  const { provider, kms_key_ref, region, role_arn, impersonate_service_account, vault_url } = fields;
  const { azure_tenant_id, client_id, client_secret_env_var } = fields;
  const all = {
    aws: { region, role_arn },
    gcp: { impersonate_service_account },
    azure: { vault_url, azure_tenant_id, client_id, client_secret_env_var },
  }[provider];
  return { provider, kms_key_ref, config: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')) };
}
