import type { Feature, LimitKey } from '#server/domain/plans/schema.ts';

/** What each limit counts, in the plural. */
export const LIMIT_WORDS: Record<LimitKey, string> = {
  api_calls: 'Live calls this month',
  tenant_rps: 'Calls a second',
  routes: 'Routes',
  secrets: 'Secrets',
  clients: 'Clients',
  environments: 'Environments',
  collections: 'Collections',
  members: 'Members',
  api_keys: 'Active API keys',
  oauth_clients: 'OAuth clients',
  webhooks: 'Webhooks',
  wrap_tokens: 'Wrap tokens',
  vaults: 'Vaults',
  crypto_keys: 'Crypto keys',
  pki_roots: 'Certificate authorities',
  dyn_db_connections: 'Database connections',
  vault_tokens: 'Vault tokens',
  vault_detokenize: 'Detokenisations a month',
  pki_certificates: 'Certificates a month',
  dyn_db_mints: 'Database credentials a month',
  dyn_db_leases: 'Live database leases',
  encryption_leaves: 'Encrypted fields a month',
  client_tokens: 'Client tokens a month',
  workflows: 'Workflows',
  workflow_operations: 'Workflow operations a month',
  workflow_schedule_min_minutes: 'Shortest schedule, minutes',
  ai_gateways: 'AI gateways',
  ai_agents: 'AI agents',
  mcp_servers: 'MCP servers',
  agents: 'On-host agents',
  log_retention_days: 'Days request logs are kept',
  audit_retention_days: 'Days audit entries are kept',
};

/** What a plan includes and this release has: ticking off what cannot be used yet would promise it. A feature enters here with its code. */
export const FEATURES_HERE: ReadonlySet<string> = new Set<Feature>(['log_export', 'audit_export', 'access_key']);

export const FEATURE_WORDS: Record<Feature, string> = {
  oauth2_secrets: 'OAuth2 secrets',
  secret_sharing: 'Secret sharing',
  log_export: 'Request log export',
  sms_slack_alerts: 'Alerts by SMS and Slack',
  live_map: 'Live map',
  audit_export: 'Audit export',
  compliance_packs: 'Compliance packs',
  custom_pii: 'Own PII rules',
  custom_firewall: 'Own AI firewall rules',
  byo_agent: 'On-host agents',
  access_key: 'Access keys',
  scim: 'SCIM',
  sso: 'Single sign-on',
  byok_kms: 'Own key service',
  vault_dual_custody: 'Dual custody of vaults',
  offline_grace: 'Offline grace',
  custom_integrations: 'Custom integrations',
  priority_support: 'Priority support',
};

/** Where a thing that is counted can be looked through. */
export const LIMIT_PAGES: Partial<Record<LimitKey, string>> = {
  api_calls: '/logs',
  routes: '/routes',
  secrets: '/secrets',
  clients: '/clients',
  environments: '/environments',
  collections: '/collections',
  api_keys: '/api-keys',
};

/** How long something is kept; null is without an end. */
export const daysKept = (days: number | null): string =>
  days === null ? 'without an end' : days === 1 ? '1 day' : `${days.toLocaleString()} days`;

export const REGIONS: Record<string, string> = { us: 'United States', eu: 'European Union', au: 'Australia' };
