import type { Pool, PoolClient } from 'pg';
import type { TenantKeyRow } from '#server/crypto/keyring.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import type { ConfigRow } from '#server/domain/routes/effective.ts';
import type { Space } from '#server/kernel/context.ts';
import { withPooledClient } from '#server/platform/pooled-client.ts';

// What the data plane knows of one workspace and space, as plain JSON: it is compiled for serving and written to disk as it is.
// Bytes are base64 text, instants are epoch milliseconds, inject_body_json stays JSON text so that no number loses a digit.

export type TenantRow = {
  id: string;
  slug: string;
  subscription_plan: PlanName;
  subscription_status: string;
  settings: unknown;
  overrides: { kind: string; value: number | null; expires_at: number | null }[];
  keys: (Omit<TenantKeyRow, 'wrapped_key'> & { wrapped_key: string | null; status: string })[];
};
export type RouteRow = {
  id: string;
  name: string;
  slug: string | null;
  enabled: boolean;
  collection_id: string | null;
  base_environment_id: string;
};
export type AssignmentRow = { route_id: string; environment_id: string; client_id: string };
/** One usable address range of an enabled client, in the order of precedence among equals. */
export type ClientRangeRow = { client_id: string; name: string; credential_id: string; ip_range: string; expires_at: number | null };
export type ApiKeyRow = {
  id: string;
  key_id: string;
  digest: string;
  role_ids: string[];
  scopes: string[] | null;
  scoped: boolean;
  ip_allowlist: string[];
  expires_at: number | null;
  revoke_at: number | null;
};
export type CollectionRow = { id: string; slug: string };
export type VariableRow = { collection_id: string; key: string; type: string; value: string | null; secret_id: string | null };
export type SecretRow = {
  id: string;
  shortcode_name: string;
  secret_type: string;
  collection_id: string | null;
  expires_at: number | null;
  strict_expiry_enforcement: boolean;
  allowed_hosts: string[] | null;
};
export type SecretValueRow = {
  secret_id: string;
  environment_name: string;
  expires_at_override: number | null;
  value_id: string;
  value_ct: string;
  cek_wrapped: string;
  tmk_version: number;
};

export type SpaceRows = {
  tenant: TenantRow;
  space: Space;
  routes: RouteRow[];
  configs: ConfigRow[];
  assignments: AssignmentRow[];
  client_ranges: ClientRangeRow[];
  api_keys: ApiKeyRow[];
  collections: CollectionRow[];
  variables: VariableRow[];
  secrets: SecretRow[];
  secret_values: SecretValueRow[];
};

type Scoped<T> = T & { tenant_id: string; sandbox: boolean };

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
const OF_SPACE = 'tenant_id = any($1) and sandbox = any($2)';

const QUERIES = {
  routes: `select tenant_id, sandbox, id, name, slug, enabled, collection_id, base_environment_id from routes where ${OF_SPACE}`,
  configs: `select tenant_id, sandbox, id, route_id, environment_id, environment_name, is_base, enabled, target_base_url, inject_headers_json,
      inject_body_json::text as inject_body_json, inject_query_json, require_signature, signature_tolerance_sec, signature_require_nonce, signature_scheme,
      rate_limit_enabled, rate_limit_requests, rate_limit_window_sec, rate_limit_burst, rate_limit_per_client, allowed_methods,
      http_method_restrictions_enabled, method_configs, use_method_specific_configs, requires_clients, mtls_certificate_id, upstream_ca_certificate_id,
      ip_allowlist, intercept_enabled, timeout_ms, retry_attempts, body_placeholders, forward_client_ip, log_payloads, overridden_fields
    from route_environment_configs where ${OF_SPACE}`,
  assignments: `select tenant_id, sandbox, route_id, environment_id, client_id from route_client_assignments where ${OF_SPACE}`,
  client_ranges: `select c.tenant_id, c.sandbox, c.id as client_id, c.name, k.id as credential_id, k.ip_range, ${ms('k.expires_at')} as expires_at
    from client_credentials k join clients c on c.id = k.client_id
    where k.tenant_id = any($1) and k.sandbox = any($2) and k.kind = 'ip' and k.enabled and c.enabled and k.ip_range is not null
    order by k.created_at, k.id`,
  api_keys: `select tenant_id, sandbox, id, key_id, encode(digest, 'base64') as digest, role_ids, scopes, scoped, coalesce(ip_allowlist, '{}') as ip_allowlist,
      ${ms('expires_at')} as expires_at, ${ms('revoke_at')} as revoke_at
    from api_keys where ${OF_SPACE} and active`,
  collections: `select tenant_id, sandbox, id, slug from collections where ${OF_SPACE}`,
  variables: `select tenant_id, sandbox, collection_id, key, type, value, secret_id from collection_variables where ${OF_SPACE}`,
  secrets: `select tenant_id, sandbox, id, shortcode_name, secret_type, collection_id, ${ms('expires_at')} as expires_at, strict_expiry_enforcement, allowed_hosts
    from secrets where ${OF_SPACE}`,
  secret_values: `select e.tenant_id, e.sandbox, e.secret_id, e.environment_name, ${ms('e.expires_at_override')} as expires_at_override, v.id as value_id,
      encode(v.value_ct, 'base64') as value_ct, encode(v.cek_wrapped, 'base64') as cek_wrapped, v.tmk_version
    from secret_environments e join secret_values v on v.id = e.current_value_id and v.secret_environment_id = e.id
    where e.tenant_id = any($1) and e.sandbox = any($2) and v.value_ct is not null and v.cek_wrapped is not null`,
} as const;
type Family = keyof typeof QUERIES;
const FAMILIES = Object.keys(QUERIES) as Family[];

/**
 * All rows of the given workspaces and spaces as of one instant: every query sees the same snapshot of the database, so a change that
 * touched several tables is seen whole or not at all. Workspaces that are deleted are absent from the answer.
 */
export function loadRows(pool: Pool, tenantIds: readonly string[], spaces: readonly Space[]): Promise<SpaceRows[]> {
  return withPooledClient(pool, async (client) => {
    await client.query('begin isolation level repeatable read read only');
    const loaded = await readAll(client, tenantIds, spaces);
    await client.query('commit');
    return loaded;
  });
}

async function readAll(client: PoolClient, tenantIds: readonly string[], spaces: readonly Space[]): Promise<SpaceRows[]> {
  const tenants = await readTenants(client, tenantIds);
  const found = new Map<string, SpaceRows>();
  for (const tenant of tenants) for (const space of spaces) found.set(`${tenant.id}:${space}`, emptySpace(tenant, space));
  const values = [tenantIds, spaces.map((space) => space === 'test')];
  for (const family of FAMILIES) {
    const { rows } = await client.query<Scoped<object>>({ name: `snapshot-${family}`, text: QUERIES[family], values });
    for (const { tenant_id, sandbox, ...row } of rows) {
      const into: object[] | undefined = found.get(`${tenant_id}:${sandbox ? 'test' : 'live'}`)?.[family];
      into?.push(row); // each query selects exactly the columns of its family's row type
    }
  }
  return [...found.values()];
}

async function readTenants(client: PoolClient, ids: readonly string[]): Promise<TenantRow[]> {
  const { rows } = await client.query<TenantRow>({
    name: 'snapshot-tenants',
    text: `select id, slug, subscription_plan, subscription_status, settings,
        coalesce((select jsonb_agg(jsonb_build_object('kind', kind, 'value', value, 'expires_at', ${ms('expires_at')})) from tenant_limit_overrides o where o.tenant_id = t.id), '[]') as overrides,
        coalesce((select jsonb_agg(jsonb_build_object('version', version, 'wrap_method', wrap_method, 'wrapped_key', encode(wrapped_key, 'base64'), 'root_key_id', root_key_id, 'status', status)) from tenant_master_keys k where k.tenant_id = t.id), '[]') as keys
      from tenants t where id = any($1) and deleted_at is null order by id`,
    values: [ids],
  });
  return rows;
}

function emptySpace(tenant: TenantRow, space: Space): SpaceRows {
  return {
    tenant,
    space,
    routes: [],
    configs: [],
    assignments: [],
    client_ranges: [],
    api_keys: [],
    collections: [],
    variables: [],
    secrets: [],
    secret_values: [],
  };
}

const WATCHED = [
  'routes',
  'route_environment_configs',
  'route_client_assignments',
  'clients',
  'client_credentials',
  'api_keys',
  'collections',
  'collection_variables',
  'secrets',
  'secret_environments',
  'secret_values',
] as const;
const WATCHED_TENANT = ['tenant_limit_overrides', 'tenant_master_keys'] as const;

/**
 * One short text per workspace that differs after any change of its rows (a row's xmin is the transaction that wrote it, so the largest
 * one moves with every insert and update, and the count with every delete). Spaces are not told apart: this is the backstop, not the news.
 */
export async function fingerprints(pool: Pool): Promise<Map<string, string>> {
  const counted = (table: string, id: string) =>
    `select ${id} as tenant_id, '${table}' as of, count(*) as n, max(xmin::text::bigint) as x from ${table} group by 1`;
  const parts = [counted('tenants', 'id'), ...[...WATCHED, ...WATCHED_TENANT].map((table) => counted(table, 'tenant_id'))];
  const { rows } = await pool.query<{ tenant_id: string; print: string }>({
    name: 'snapshot-fingerprints',
    text: `select tenant_id, string_agg(of || n || '.' || x, ' ' order by of) as print from (${parts.join(' union all ')}) c group by 1
      having tenant_id in (select id from tenants where deleted_at is null)`,
  });
  return new Map(rows.map((row) => [row.tenant_id, row.print]));
}
