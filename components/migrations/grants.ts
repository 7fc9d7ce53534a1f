import type { Snippet } from '#components/ui/code-block.tsx';

export type WorkloadIdentity = { issuer: string; subject: string; azure_audience: string };
export type Setup = { external_id: string; role_name: string; aws_principal: string | null; workload_identity: WorkloadIdentity };

/** The smallest grants that a migration needs, with this installation's identity filled in (interface rule 35 §2). */
export const awsGrant = ({ external_id, aws_principal }: Setup, parameters: boolean): [Snippet, Snippet] => [
  {
    id: 'trust',
    label: 'Trust policy',
    language: 'json',
    code: json([
      {
        Effect: 'Allow',
        Principal: { AWS: aws_principal ?? 'ARN OF THIS INSTALLATION (ASK ITS OPERATOR)' },
        Action: 'sts:AssumeRole',
        Condition: { StringEquals: { 'sts:ExternalId': external_id } },
      },
    ]),
  },
  {
    id: 'permissions',
    label: 'Permissions',
    language: 'json',
    code: json([
      {
        Effect: 'Allow',
        Action: parameters
          ? ['ssm:DescribeParameters', 'ssm:GetParametersByPath', 'ssm:GetParameter']
          : ['secretsmanager:ListSecrets', 'secretsmanager:DescribeSecret', 'secretsmanager:GetSecretValue'],
        Resource: '*',
      },
      { Effect: 'Allow', Action: 'kms:Decrypt', Resource: 'ARN OF EACH KEY IN USE' },
    ]),
  },
];

const json = (Statement: readonly object[]) => JSON.stringify({ Version: '2012-10-17', Statement }, null, 2);

const vaultPolicy = (mounts: readonly string[]): string[] => [
  "vault policy write svc-migration-reader - <<'POLICY'",
  ...mounts.flatMap((mount) => [
    `path "${mount}/*" { capabilities = ["list", "read"] }`,
    `path "sys/internal/ui/mounts/${mount}" { capabilities = ["read"] }`,
  ]),
  'POLICY',
];

/** A policy for the mounts, and a token that carries it for the next half hour. */
export const vaultGrant = (mounts: readonly string[]): [Snippet] => [
  {
    id: 'vault',
    label: 'Shell',
    language: 'bash',
    code: [...vaultPolicy(mounts), 'vault token create -policy=svc-migration-reader -ttl=24h -wrap-ttl=30m -field=wrapping_token'].join(
      '\n',
    ),
  },
];

const READER = 'svc-migration-reader';

/** An app registration that trusts our issuer, with the right to read the secrets of a vault. */
export const azureGrant = ({ issuer, subject, azure_audience }: WorkloadIdentity): [Snippet] => [
  {
    id: 'azure',
    label: 'Azure CLI',
    language: 'bash',
    code: [
      `APP_ID=$(az ad app create --display-name ${READER} --query appId -o tsv)`,
      'az ad sp create --id "$APP_ID"',
      `az ad app federated-credential create --id "$APP_ID" --parameters '${JSON.stringify({
        name: 'sallyport',
        issuer,
        subject,
        audiences: [azure_audience],
      })}'`,
      '# For each vault:',
      'az role assignment create --assignee "$APP_ID" --role "Key Vault Secrets User" \\',
      '  --scope "$(az keyvault show --name VAULT --query id -o tsv)"',
      'echo "Client ID: $APP_ID, tenant ID: $(az account show --query tenantId -o tsv)"',
    ].join('\n'),
  },
];

/** A pool whose provider trusts our issuer, and a service account that our subject may be. */
export const googleGrant = ({ issuer, subject }: WorkloadIdentity): [Snippet] => [
  {
    id: 'google',
    label: 'gcloud',
    language: 'bash',
    code: [
      'PROJECT=$(gcloud config get project)',
      'NUMBER=$(gcloud projects describe "$PROJECT" --format=\'value(projectNumber)\')',
      'gcloud iam workload-identity-pools create sallyport --location=global',
      'gcloud iam workload-identity-pools providers create-oidc sallyport --location=global \\',
      `  --workload-identity-pool=sallyport --issuer-uri=${issuer} \\`,
      `  --attribute-mapping=google.subject=assertion.sub --attribute-condition="assertion.sub=='${subject}'"`,
      `gcloud iam service-accounts create ${READER}`,
      `gcloud iam service-accounts add-iam-policy-binding "${READER}@$PROJECT.iam.gserviceaccount.com" \\`,
      '  --role=roles/iam.workloadIdentityUser \\',
      `  --member="principal://iam.googleapis.com/projects/$NUMBER/locations/global/workloadIdentityPools/sallyport/subject/${subject}"`,
      'for ROLE in roles/secretmanager.viewer roles/secretmanager.secretAccessor; do',
      `  gcloud projects add-iam-policy-binding "$PROJECT" --role=$ROLE --member="serviceAccount:${READER}@$PROJECT.iam.gserviceaccount.com"`,
      'done',
    ].join('\n'),
  },
];

/** A role of Vault that trusts our issuer, for this address alone. */
export const vaultJwtGrant = ({ issuer, subject }: WorkloadIdentity, address: string, mounts: readonly string[]): [Snippet] => [
  {
    id: 'vault-jwt',
    label: 'Shell',
    language: 'bash',
    code: [
      ...vaultPolicy(mounts),
      'vault auth enable jwt',
      `vault write auth/jwt/config oidc_discovery_url=${issuer}`,
      `vault write auth/jwt/role/${READER} role_type=jwt user_claim=sub bound_subject=${subject} \\`,
      `  bound_audiences=${address || 'https://vault.example.com:8200'} token_policies=${READER} token_ttl=1h`,
    ].join('\n'),
  },
];
