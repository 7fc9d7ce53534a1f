/** Feature flags of the Pro plan (interface rule 20 §3). */
export const PRO_FEATURES = [
  'oauth2_secrets',
  'secret_sharing',
  'log_export',
  'sms_slack_alerts',
  'live_map',
  'audit_export',
  'compliance_packs',
  'custom_pii',
  'custom_firewall',
  'byo_agent',
] as const;

/** Feature flags that only the Enterprise plan has. */
export const ENTERPRISE_FEATURES = [
  'access_key',
  'scim',
  'sso',
  'byok_kms',
  'vault_dual_custody',
  'offline_grace',
  'custom_integrations',
  'priority_support',
] as const;

export type Feature = (typeof PRO_FEATURES)[number] | (typeof ENTERPRISE_FEATURES)[number];
