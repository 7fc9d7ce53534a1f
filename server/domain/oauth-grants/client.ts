import { isClientUrl } from '#server/domain/oauth-clients/client-url.shared.ts';
import { compileRanges } from '#server/kernel/address.ts';
import { scopesOfKey } from '#server/kernel/capabilities.ts';
import { sql } from '#server/platform/sql.ts';

/** Identifiers of the five grants (interface rule 21 §4), in the order of the metadata. */
export const GRANTS = {
  authorization_code: 'authorization_code',
  client_credentials: 'client_credentials',
  refresh_token: 'refresh_token',
  device_code: 'urn:ietf:params:oauth:grant-type:device_code',
  token_exchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
} as const;

/** A client with its workspace, and the API key that it mirrors. */
export type OAuthClient = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  client_id: string;
  name: string;
  type: 'confidential' | 'public';
  grant_types: string[];
  /** Of a mirrored key: the scopes of its roles now. */
  allowed_scopes: readonly string[];
  step_up_scopes: string[];
  redirect_uris: string[];
  require_dpop: boolean;
  active: boolean;
  /** Grows when everything that was obtained from the client ends. What was authenticated in an earlier one obtains nothing. */
  epoch: number;
  system_role: string | null;
  tenant_slug: string;
  /** The workspace wants the nonce of an earlier answer in every DPoP proof. */
  dpop_nonce_required: boolean;
  /** Digests of the secrets that are accepted now; of a mirrored key, of the key. */
  secret_digests: readonly Uint8Array[];
  source_api_key_id: string | null;
  /** Ranges from which the mirrored key may be used; empty: from anywhere. */
  ip_allowlist: readonly string[];
};

type Row = Omit<OAuthClient, 'secret_digests' | 'ip_allowlist' | 'dpop_nonce_required'> & {
  settings: { dpop_nonce_required?: unknown; allow_client_id_documents?: unknown } | null;
  revoked_at: Date | null;
  tenant_deleted_at: Date | null;
  secrets: Buffer[];
  key: {
    digest: string;
    role_ids: string[];
    scoped: boolean;
    scopes: string[];
    active: boolean;
    ends_at: string | null;
    ip_allowlist: string[];
  } | null;
};

const COLUMNS = `c.id, c.tenant_id, c.sandbox, c.client_id, c.name, c.type, c.grant_types, c.allowed_scopes, c.step_up_scopes, c.redirect_uris, c.require_dpop,
  c.active, c.epoch, c.revoked_at, c.system_role, c.source_api_key_id, t.slug as tenant_slug, t.deleted_at as tenant_deleted_at, t.settings,
  array(select s.digest from oauth_client_secrets s where s.client_row_id = c.id and s.revoked_at is null and (s.expires_at is null or s.expires_at > $2)) as secrets,
  (select json_build_object('digest', encode(k.digest, 'hex'), 'role_ids', k.role_ids, 'scoped', k.scoped, 'scopes', k.scopes, 'active', k.active,
    'ends_at', least(k.expires_at, k.revoke_at), 'ip_allowlist', k.ip_allowlist) from api_keys k where k.id = c.source_api_key_id) as key
  from oauth_clients c join tenants t on t.id = c.tenant_id`;

/**
 * The client of an id that somebody presented, before anything about the caller is known. `active` covers everything that ends a client: disabled,
 * revoked, its key ended, its workspace deleted.
 */
export async function clientById(clientId: string, now: Date): Promise<OAuthClient | null> {
  const { rows } = await sql().query<Row>({
    name: 'oauth-client',
    text: `select ${COLUMNS} where c.client_id = $1`,
    values: [clientId, now],
  });
  return rows[0] ? clientOf(rows[0], now) : null;
}

/** The client that a code, a family or a device was made for. */
export async function clientByRow(id: string, now: Date): Promise<OAuthClient | null> {
  const { rows } = await sql().query<Row>({ name: 'oauth-client-row', text: `select ${COLUMNS} where c.id = $1`, values: [id, now] });
  return rows[0] ? clientOf(rows[0], now) : null;
}

function clientOf({ revoked_at, tenant_deleted_at, settings, secrets, key, ...row }: Row, now: Date): OAuthClient {
  const keyEnded = row.source_api_key_id !== null && (!key?.active || (key.ends_at !== null && new Date(key.ends_at) <= now));
  const isUnwanted = isClientUrl(row.client_id) && settings?.allow_client_id_documents === false;
  return {
    ...row,
    active: row.active && revoked_at === null && tenant_deleted_at === null && !keyEnded && !isUnwanted,
    allowed_scopes: key ? scopesOfKey(key) : row.allowed_scopes,
    secret_digests: key ? [Buffer.from(key.digest, 'hex')] : secrets,
    ip_allowlist: key?.ip_allowlist ?? [],
    dpop_nonce_required: settings?.dpop_nonce_required === true,
  };
}

/** Whether a mirrored key may be used from this address. */
export const isAllowedFrom = ({ ip_allowlist }: Pick<OAuthClient, 'ip_allowlist'>, ip: string | null): boolean =>
  ip_allowlist.length === 0 || (ip !== null && compileRanges(ip_allowlist)(ip));
