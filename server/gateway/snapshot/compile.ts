import { LIMITS, type LimitKey, planLimit } from '#server/domain/plans/schema.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import { compileRanges, compileRangeTable } from '#server/kernel/address.ts';
import { capabilitiesOfKey } from '#server/kernel/capabilities.ts';
import type { EgressSettings } from '#server/platform/http-out/settings.ts';
import { compileRoutes } from './compile-route.ts';
import type { ApiKey, ClientMatch, Secret, SecretValue, SpaceSnapshot, Tenant, Variable } from './model.ts';
import type { ApiKeyRow, ClientRangeRow, SecretRow, SecretValueRow, SpaceRows, TenantRow } from './rows.ts';

const SERVABLE = new Set(['trialing', 'active', 'dunning']);
/** Addresses whose matches are remembered per snapshot; a scan over many addresses must not fill memory. */
const MAX_REMEMBERED = 10_000;

/** The picture calls are served from. Routes and keys cost little here: their settings are compiled when they are first called. */
export function compileSpace(rows: SpaceRows, egress: EgressSettings): SpaceSnapshot {
  const routes = compileRoutes(rows, egress);
  const keys = new Map(rows.api_keys.map((row) => [row.key_id, row]));
  const compiledKeys = new Map<string, ApiKey>();
  const findClients = compileRangeTable(rows.client_ranges.map((row) => ({ range: row.ip_range, value: clientMatch(row) })));
  const remembered = new Map<string, readonly ClientMatch[]>();
  const values = Map.groupBy(rows.secret_values, (row) => row.secret_id);
  const secrets = rows.secrets.map((row) => compileSecret(row, values.get(row.id) ?? []));
  const byId = new Map(secrets.map((secret) => [secret.id, secret]));
  const byName = new Map(secrets.map((secret) => [secret.name, secret]));
  const collectionOf = new Map(rows.collections.map((row) => [row.slug, row.id]));
  const variables = new Map<string, Variable & { collectionId: string }>();
  for (const row of rows.variables) {
    const variable: Variable =
      row.type === 'secret' ? { type: 'secret', secretId: row.secret_id ?? '' } : { type: 'value', value: row.value ?? '' };
    variables.set(`${row.collection_id} ${row.key}`, { ...variable, collectionId: row.collection_id });
  }

  return {
    tenant: compileTenant(rows.tenant),
    space: rows.space,
    sandbox: rows.space === 'test',
    route: routes,
    key(keyId) {
      const known = compiledKeys.get(keyId);
      if (known) return known;
      const row = keys.get(keyId);
      if (!row) return undefined;
      const key = compileKey(row);
      compiledKeys.set(keyId, key);
      return key;
    },
    clientsAt(ip) {
      if (rows.client_ranges.length === 0) return NOBODY;
      let found = remembered.get(ip);
      if (!found) {
        found = findClients(ip);
        if (remembered.size < MAX_REMEMBERED) remembered.set(ip, found);
      }
      return found;
    },
    secretById: (id) => byId.get(id),
    secretByName: (name) => byName.get(name),
    variable(collection, key, collectionId) {
      const id = collection === null ? collectionId : collectionOf.get(collection);
      return id ? variables.get(`${id} ${key}`) : undefined;
    },
  };
}

const NOBODY: readonly ClientMatch[] = [];

function compileTenant(row: TenantRow): Tenant {
  const rps = limitOf(row, 'tenant_rps');
  const monthlyCalls = limitOf(row, 'api_calls');
  return {
    id: row.id,
    slug: row.slug,
    plan: row.subscription_plan,
    status: row.subscription_status,
    servable: SERVABLE.has(row.subscription_status),
    settings: settingsOf(row.settings),
    get rps() {
      return rps();
    },
    get monthlyCalls() {
      return monthlyCalls();
    },
  };
}

/** A limit as it is when it is asked for: an operator's exception may end while nothing is written that would bring a new picture. */
function limitOf(row: TenantRow, key: LimitKey): () => number | null {
  const plan = key in LIMITS ? planLimit(row.subscription_plan, key) : null;
  const own = row.overrides.find((o) => o.kind === key);
  if (!own) return () => plan;
  const { value, expires_at } = own;
  return () => (expires_at === null || expires_at > Date.now() ? value : plan);
}

function compileKey(row: ApiKeyRow): ApiKey {
  // Scopes narrow the roles, as on the Management API: they never add to them.
  const mayInvoke = capabilitiesOfKey({ ...row, scopes: row.scopes ?? [] }).has('proxy:invoke');
  return {
    id: row.id,
    keyId: row.key_id,
    digest: Buffer.from(row.digest, 'base64'),
    mayInvoke,
    allows: row.ip_allowlist.length > 0 ? compileRanges(row.ip_allowlist) : null,
    endsAt: Math.min(row.expires_at ?? Infinity, row.revoke_at ?? Infinity),
  };
}

function clientMatch(row: ClientRangeRow): ClientMatch {
  return { client: { id: row.client_id, name: row.name }, credentialId: row.credential_id, endsAt: row.expires_at ?? Infinity };
}

function compileSecret(row: SecretRow, values: readonly SecretValueRow[]): Secret {
  return {
    id: row.id,
    name: row.shortcode_name,
    type: row.secret_type,
    collectionId: row.collection_id,
    expiresAt: row.expires_at,
    strict: row.strict_expiry_enforcement,
    allowedHosts: row.allowed_hosts,
    values: new Map(values.map((value) => [value.environment_name, compileValue(value)])),
  };
}

function compileValue(row: SecretValueRow): SecretValue {
  const sealed = {
    value_ct: Buffer.from(row.value_ct, 'base64'),
    cek_wrapped: Buffer.from(row.cek_wrapped, 'base64'),
    tmk_version: row.tmk_version,
  };
  return { id: row.value_id, expiresAt: row.expires_at_override, sealed };
}
