/** What migrations know of: closed lists, which pages need too (interface rule 35). */
export const PROVIDERS = ['aws_sm', 'aws_ssm', 'azure_kv', 'gcp_sm', 'hashicorp_vault', 'env_file'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export const PROVIDER_LABELS: Readonly<Record<ProviderName, string>> = {
  aws_sm: 'AWS Secrets Manager',
  aws_ssm: 'AWS Parameter Store',
  azure_kv: 'Azure Key Vault',
  gcp_sm: 'Google Secret Manager',
  hashicorp_vault: 'HashiCorp Vault',
  env_file: '.env file',
};

export const MODES = ['pull', 'capture', 'both'] as const;
export const MIGRATION_STATUSES = ['pending', 'discovering', 'awaiting_review', 'completed', 'failed', 'cancelled'] as const;
export type MigrationStatus = (typeof MIGRATION_STATUSES)[number];
export const ITEM_STATUSES = ['pending_review', 'approved', 'rejected', 'committed', 'expired', 'denylisted'] as const;
export type ItemStatus = (typeof ITEM_STATUSES)[number];
export const ITEM_KINDS = ['string', 'json', 'binary', 'pem', 'database_url', 'dotenv'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];
export const RESPONSE_FORMATS = ['aws_sm', 'aws_ssm', 'azure_kv', 'gcp_sm', 'plain'] as const;
export const DB_PROTOCOLS = ['postgres', 'mysql', 'mongodb', 'redis'] as const;
export const TLS_MODES = ['prefer', 'require', 'disable'] as const;

/** Migrations of a workspace that may run or wait at once. */
export const MOST_LIVE = 5;
/** Days after which a capture window ends by itself. */
export const CAPTURE_DAYS = 14;
/** Items of one migration. */
export const MOST_ITEMS = 10_000;

/** In review, which somebody still has to end. */
export const isLive = (status: string): boolean => status === 'pending' || status === 'discovering' || status === 'awaiting_review';
