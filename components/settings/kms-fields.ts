import { z } from 'zod';

const line = z.string().trim().max(600);

/** The form of the wizard; which fields count depends on the provider, and the server checks their shape. */
export const KmsForm = z
  .object({
    provider: z.enum(['aws', 'gcp', 'azure']),
    kms_key_ref: line.min(1, 'Enter the key'),
    region: line,
    role_arn: line,
    impersonate_service_account: line,
    vault_url: line,
    azure_tenant_id: line,
    client_id: line,
    client_secret_env_var: line,
  })
  .meta({ id: 'KmsForm' });
