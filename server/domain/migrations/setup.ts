import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { env } from '#server/platform/env.ts';
import { workloadIssuer, workloadSubject } from '#server/platform/workload-identity.ts';
import { externalIdOf } from './provider-input.ts';
import { AZURE_AUDIENCE } from './providers/azure.ts';

/**
 * What a customer's trust in us names. Of AWS the account of this installation is its operator's to name: null until one is. Google's audience
 * follows from the provider, and Vault's is its address.
 */
export async function migrationSetup({ tenant_id, sandbox }: Pick<Ctx, 'tenant_id' | 'sandbox'>) {
  return {
    external_id: externalIdOf(tenant_id),
    role_name: 'svc-migration-reader',
    aws_principal: env.KMS_AWS_ACCOUNT_ID === undefined ? null : `arn:aws:iam::${env.KMS_AWS_ACCOUNT_ID}:root`,
    workload_identity: {
      issuer: workloadIssuer(),
      subject: workloadSubject({ tenant_id, space: spaceOf(sandbox) }),
      azure_audience: AZURE_AUDIENCE,
    },
  };
}
