import type { PoolClient } from 'pg';
import type { TenantKeyRow } from '#server/crypto/keyring.ts';
import { LIMITS, type LimitKey, type PlanName, planLimit } from '#server/domain/plans/schema.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import type { Tenant } from './model.ts';
import { epochMs } from './slice.ts';

// The root of a workspace's snapshot: its standing, limits and keys, the same in both spaces.

export type TenantRow = {
  id: string;
  slug: string;
  subscription_plan: PlanName;
  subscription_status: string;
  settings: unknown;
  overrides: { kind: string; value: number | null; expires_at: number | null }[];
  /** Why it is sealed; null while it isn't. */
  sealed: string | null;
  keys: (Omit<TenantKeyRow, 'wrapped_key' | 'sealed'> & { wrapped_key: string | null; status: string })[];
};

/** Tables with `tenant_id` that the row is read from, besides `tenants`. */
export const TENANT_TABLES = ['tenant_limit_overrides', 'tenant_master_keys', 'tenant_kms_configs'] as const;

/** Deleted workspaces are absent from the answer. */
export async function readTenants(client: PoolClient, ids: readonly string[]): Promise<TenantRow[]> {
  const { rows } = await client.query<TenantRow>({
    name: 'snapshot-tenants',
    text: `select id, slug, subscription_plan, subscription_status, settings,
        coalesce((select jsonb_agg(jsonb_build_object('kind', kind, 'value', value, 'expires_at', ${epochMs('expires_at')})) from tenant_limit_overrides o where o.tenant_id = t.id), '[]') as overrides,
        (select sealed_reason from tenant_kms_configs c where c.tenant_id = t.id) as sealed,
        coalesce((select jsonb_agg(jsonb_build_object('version', version, 'wrap_method', wrap_method, 'wrapped_key', encode(wrapped_key, 'base64'), 'root_key_id', root_key_id, 'status', status,
          'kms', case when kms_provider is not null then jsonb_build_object('provider', kms_provider, 'key_ref', kms_key_ref, 'config', kms_config, 'key_version', kms_key_version) end)) from tenant_master_keys k where k.tenant_id = t.id), '[]') as keys
      from tenants t where id = any($1) and deleted_at is null order by id`,
    values: [ids],
  });
  return rows;
}

const SERVABLE = new Set(['trialing', 'active', 'dunning']);

export function compileTenant(row: TenantRow): Tenant {
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
