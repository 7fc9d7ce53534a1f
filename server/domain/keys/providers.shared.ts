/** The KMSs that a workspace can bring, with the names people know them by. */
export const PROVIDERS = { aws: 'AWS KMS', gcp: 'Google Cloud KMS', azure: 'Azure Key Vault' } as const;
export type ProviderName = keyof typeof PROVIDERS;

/** Names that the setup suggests for what the customer makes on their side (interface rule 31 §13). */
export const SUGGESTED = { role: 'svc-kms-access', key: 'svc-tenant-wrapping', service_account: 'svc-kms-sa' } as const;

/** `customer_kms_aws` and its like: how a configuration names its provider. */
export const internalName = (provider: string): string => `customer_kms_${provider}`;
