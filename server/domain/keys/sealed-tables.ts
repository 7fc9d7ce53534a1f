import type { Purpose } from '#server/crypto/aad.ts';

/** Where a content key lies that is wrapped by the tenant's master key, and the place its AAD names. */
export type SealedTable = { table: string; wrapped: string; version: string; purpose: Purpose; space: 'by_row' | 'shared' };

/**
 * Every table with values sealed under tenant keys. A rotation re-wraps exactly these; a test compares the list with the database's own catalogue,
 * so a table that is missing here fails the build. All have `id` (the row of the AAD) and `tenant_id`; those sealed by space have `sandbox`.
 */
export const SEALED_TABLES: readonly SealedTable[] = [
  { table: 'secret_values', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'secret_value', space: 'by_row' },
  { table: 'oauth_states', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'oauth2_state', space: 'by_row' },
  { table: 'client_credentials', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'client_credential', space: 'by_row' },
  { table: 'client_authorities', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'pki_key', space: 'shared' },
  { table: 'vaults', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'vault_data_key', space: 'by_row' },
  { table: 'events', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'webhook_payload', space: 'by_row' },
  { table: 'webhook_secrets', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'webhook_secret', space: 'by_row' },
  { table: 'webhook_auths', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'webhook_auth', space: 'by_row' },
  { table: 'webhook_attempts', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'webhook_payload', space: 'by_row' },
  { table: 'inbound_webhooks', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'inbound_webhook', space: 'by_row' },
  { table: 'log_payloads', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'log_payload', space: 'by_row' },
  { table: 'payload_captures', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'capture_payload', space: 'by_row' },
  { table: 'log_streams', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'log_stream', space: 'by_row' },
  { table: 'alert_channels', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'alert_channel', space: 'by_row' },
  { table: 'sso_connections', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'sso_secret', space: 'shared' },
  { table: 'crypto_key_versions', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'transit_key', space: 'by_row' },
  { table: 'pki_roots', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'pki_key', space: 'by_row' },
  { table: 'pki_intermediates', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'pki_key', space: 'by_row' },
  { table: 'pki_responders', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'pki_key', space: 'by_row' },
  { table: 'acme_accounts', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'acme_hmac', space: 'by_row' },
  { table: 'mcp_grants', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'mcp_grant', space: 'by_row' },
  { table: 'mcp_registrations', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'mcp_grant', space: 'by_row' },
  { table: 'mcp_sessions', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'mcp_session', space: 'by_row' },
  { table: 'mcp_approvals', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'ai_payload', space: 'by_row' },
  { table: 'ai_cache_entries', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'ai_cache', space: 'by_row' },
  { table: 'secret_migration_items', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'migration_item', space: 'by_row' },
  {
    table: 'secret_migration_credentials',
    wrapped: 'cek_wrapped',
    version: 'tmk_version',
    purpose: 'migration_credential',
    space: 'by_row',
  },
  { table: 'dyn_db_passwords', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'dyn_db_admin', space: 'by_row' },
  { table: 'dyn_db_ssh_keys', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'ssh_key', space: 'by_row' },
  { table: 'workflow_executions', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'workflow_data', space: 'by_row' },
  { table: 'workflow_node_executions', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'workflow_data', space: 'by_row' },
  { table: 'workflow_hooks', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'workflow_hook', space: 'by_row' },
  { table: 'agent_keys', wrapped: 'cek_wrapped', version: 'tmk_version', purpose: 'agent_key', space: 'by_row' },
  { table: 'idempotency_keys', wrapped: 'cek_wrapped', version: 'body_tmk', purpose: 'idempotency_response', space: 'by_row' },
];
