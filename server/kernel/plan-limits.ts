/**
 * Plans: the one register of limits and feature flags (interface rule 20 §3). Every file names a key, never a number. null = unlimited.
 */
export const PLANS = ['free', 'starter', 'pro', 'enterprise'] as const;
export type PlanName = (typeof PLANS)[number];

/** The next step of a refusal for want of room: the largest plan has none above it, and its limits are set by who runs the service. */
export const moreRoom = (plan: PlanName): string =>
  plan === PLANS.at(-1) ? 'ask your operator for a higher limit' : 'move to a larger plan';

const limits = <const T extends Record<string, readonly [number | null, number | null, number | null, number | null]>>(table: T) => table;

export const LIMITS = limits({
  api_calls: [10_000, 50_000, 100_000, null],
  tenant_rps: [10, 50, 200, 1_000],
  routes: [10, 25, 50, null],
  secrets: [20, 50, 100, null],
  clients: [5, 10, 25, null],
  environments: [3, 5, null, null],
  collections: [5, 20, null, null],
  members: [3, 10, null, null],
  api_keys: [5, 20, 100, null],
  oauth_clients: [3, 10, 50, null],
  webhooks: [3, 10, 50, null],
  inbound_webhooks: [3, 10, 50, null],
  wrap_tokens: [1_000, 1_000, 1_000, 1_000],
  vaults: [1, 3, 20, null],
  crypto_keys: [3, 10, 50, null],
  pki_roots: [1, 2, 10, null],
  dyn_db_connections: [1, 3, 20, null],
  vault_tokens: [1_000, 20_000, 100_000, null],
  vault_detokenize: [1_000, 20_000, 200_000, null],
  pki_certificates: [50, 500, 5_000, null],
  dyn_db_mints: [100, 1_000, 20_000, null],
  dyn_db_leases: [10, 50, 500, null],
  encryption_leaves: [10_000, 100_000, 1_000_000, null],
  client_tokens: [1_000, 10_000, 100_000, null],
  workflows: [3, 20, 100, null],
  workflow_operations: [5_000, 50_000, 500_000, null],
  workflow_schedule_min_minutes: [60, 15, 1, 1],
  ai_gateways: [1, 2, 10, null],
  ai_agents: [2, 10, 50, null],
  mcp_servers: [1, 5, 25, null],
  agents: [0, 0, 20, null],
  log_retention_days: [3, 7, 30, 90],
  audit_retention_days: [7, 30, 90, 365],
});
export type LimitKey = keyof typeof LIMITS;

export const planLimit = (plan: PlanName, key: LimitKey): number | null => LIMITS[key][PLANS.indexOf(plan)] ?? null;
