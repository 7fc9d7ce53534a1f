/** Partition of the data: `-` for what is shared by both spaces. */
export type SealSpace = 'live' | 'test' | '-';

/** What a sealed value may be for (the register of interface rule 31 §2). A family that needs another adds it here. */
export const purposes = [
  'secret_value',
  'oauth2_state',
  'totp_seed',
  'sso_secret',
  'idempotency_response',
  'client_credential',
  'capture_payload',
  'log_payload',
  'transit_key',
  'vault_data_key',
  'pki_key',
  'acme_hmac',
  'dyn_db_admin',
  'ssh_key',
  'webhook_secret',
  'webhook_auth',
  'webhook_payload',
  'inbound_webhook',
  'log_stream',
  'alert_channel',
  'workflow_data',
  'workflow_hook',
  'agent_key',
  'agent_bundle',
  'migration_item',
  'migration_credential',
  'wrap_token_meta',
  'ai_provider',
  'ai_payload',
  'ai_cache',
  'ai_pii_map',
  'mcp_session',
  'mcp_grant',
] as const;
export type Purpose = (typeof purposes)[number];

/** Where a sealed value lives. `row_id` is the id of the immutable value row, so an older blob fits no newer row. */
export type SealedPlace = { tenant_id: string; space: SealSpace; purpose: Purpose; row_id: string };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** AAD of a tenant key wrapped by a root key. */
export function tenantKeyAad(tenantId: string, version: number): string {
  return `svt1|tmk|${id(tenantId)}|${version}`;
}

/** AAD of a content key (`cek`), a value (`val`) or a small value (`dir`). Throws TypeError on an id that is not a lower-case uuid. */
export function placeAad(layer: 'cek' | 'val' | 'dir', place: SealedPlace): string {
  return `svt1|${layer}|${id(place.tenant_id)}|${place.space}|${place.purpose}|${id(place.row_id)}`;
}

// An id of free form could hold a `|` and make two places share one AAD.
function id(value: string): string {
  if (!uuid.test(value)) throw new TypeError('ids in AAD are lower-case uuids');
  return value;
}
