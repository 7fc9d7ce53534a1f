import { clickHouseRows, clickHouseRun } from '#server/platform/clickhouse.ts';
import { sql } from '#server/platform/sql.ts';

// The table of calls in ClickHouse. It is made and changed here and nowhere else; which steps were taken stands in PostgreSQL.

/** Columns by their types there. `test` is the space by which rows are ordered; `sandbox` is what the row has, which may be nothing. */
export const COLUMNS = {
  tenant_id: 'UUID',
  test: 'Bool',
  ts: "DateTime64(3, 'UTC')",
  id: 'UInt64',
  request_id: 'UUID',
  sandbox: 'Nullable(Bool)',
  route_id: 'Nullable(UUID)',
  matched_client_id: 'Nullable(UUID)',
  identification_method: 'LowCardinality(Nullable(String))',
  method: 'LowCardinality(Nullable(String))',
  status_code: 'Nullable(Int32)',
  src_ip: 'Nullable(String)',
  environment: 'LowCardinality(Nullable(String))',
  path: 'Nullable(String)',
  latency_ms: 'Nullable(Int32)',
  upstream_host: 'LowCardinality(Nullable(String))',
  error: 'LowCardinality(Nullable(String))',
  rate_limited: 'Nullable(Bool)',
  proxy_mode: 'LowCardinality(Nullable(String))',
  client_origin: 'LowCardinality(String)',
  origin: 'LowCardinality(Nullable(String))',
  upstream_status: 'Nullable(Int32)',
  upstream_ms: 'Nullable(Int32)',
  attempts: 'Nullable(Int32)',
  request_bytes: 'Nullable(Int64)',
  response_bytes: 'Nullable(Int64)',
  slug: 'LowCardinality(Nullable(String))',
  route_name: 'LowCardinality(Nullable(String))',
  client_name: 'LowCardinality(Nullable(String))',
  user_agent: 'Nullable(String)',
  signature_valid: 'Nullable(Bool)',
  api_key_id: 'Nullable(UUID)',
  oauth_client_id: 'Nullable(String)',
  user_id: 'Nullable(UUID)',
  secrets_used: 'Array(String)',
  warnings: 'Array(String)',
  error_detail: 'Nullable(String)',
  payload_flags: 'Nullable(Int16)',
  node_id: 'LowCardinality(Nullable(String))',
  injected: 'Array(String)',
  trace: 'Nullable(String)',
} as const satisfies Record<string, string>;

/**
 * What each version does to the table; each step may run twice. A row that is copied again has the same key as before, and one of them remains: it is the same
 * row of PostgreSQL, which has a request once.
 */
const STEPS: readonly ((table: string) => string)[] = [
  (table) => `CREATE TABLE IF NOT EXISTS ${table} (
    ${Object.entries(COLUMNS)
      .map(([name, type]) => `${name} ${type}`)
      .join(',\n    ')},
    INDEX by_request request_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_id id TYPE minmax GRANULARITY 1,
    INDEX by_route route_id TYPE bloom_filter(0.01) GRANULARITY 4
  ) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(ts) ORDER BY (tenant_id, test, ts, id)`,
];

export type Copied = { store: string; copied: bigint };

/**
 * Makes the table or brings it to this version. A table that is gone before anything is read from it alone is filled again from the start.
 * @throws when it is gone and calls were in it alone
 */
export async function prepareTable(): Promise<Copied> {
  const { rows } = await sql().query<{ store: string; version: number; copied: string; cut: string }>(
    'select store, version, copied, cut from request_log_history',
  );
  const [state] = rows;
  if (!state) throw new Error('request_log_history has no row');
  const isThere = (await clickHouseRows(`EXISTS TABLE ${state.store}`).then(([row]) => Object.values(row as object)[0])) === 1;
  if (!isThere && state.cut !== '0')
    throw new Error(
      `ClickHouse has no table ${state.store}, which holds the older calls. Point CLICKHOUSE_URL at the right server or restore it.`,
    );
  const version = isThere ? state.version : 0;
  for (const step of STEPS.slice(version)) await clickHouseRun(step(state.store));
  const copied = isThere ? BigInt(state.copied) : 0n;
  if (version < STEPS.length || !isThere)
    await sql().query('update request_log_history set version = greatest($1::int, version), copied = $2', [STEPS.length, String(copied)]);
  return { store: state.store, copied };
}
