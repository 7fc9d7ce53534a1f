import type { Pool, PoolClient } from 'pg';
import { bucketOf, emptyBuckets } from '#server/domain/request-logs/buckets.ts';
import { NO_ROUTE } from '#server/domain/request-logs/schema.ts';
import { withClient } from '../with-client.ts';
import { type CopyColumn, copyRows } from './copy.ts';
import { DAY_COUNTS, dayCounts } from './day-counts.ts';
import type { LogRow } from './row.ts';

const COLUMNS = {
  request_id: 'uuid',
  tenant_id: 'uuid',
  route_id: 'uuid',
  matched_client_id: 'uuid',
  identification_method: 'text',
  method: 'text',
  status_code: 'int',
  src_ip: 'text',
  environment: 'text',
  sandbox: 'boolean',
  ts: 'timestamptz',
  path: 'text',
  latency_ms: 'int',
  upstream_host: 'text',
  error: 'text',
  rate_limited: 'boolean',
  proxy_mode: 'text',
  client_origin: 'text',
  origin: 'text',
  upstream_status: 'int',
  upstream_ms: 'int',
  attempts: 'int',
  request_bytes: 'bigint',
  response_bytes: 'bigint',
  slug: 'text',
  route_name: 'text',
  client_name: 'text',
  user_agent: 'text',
  signature_valid: 'boolean',
  api_key_id: 'uuid',
  secrets_used: 'text[]',
  warnings: 'text[]',
  error_detail: 'text',
  node_id: 'text',
  injected: 'text[]',
  trace: 'jsonb',
} as const satisfies Record<keyof LogRow, string>;

const names = Object.keys(COLUMNS).join(', ');
const COPIED = Object.fromEntries(
  Object.entries(COLUMNS).map(([name, type]) => [name, type === 'jsonb' ? 'json' : type.endsWith('[]') ? 'array' : 'plain']),
) as Record<keyof LogRow, CopyColumn>;

/** For batches with rows that are there already, which COPY cannot leave out. */
const INSERT = `insert into request_logs (${names})
  select ${names} from jsonb_to_recordset($1::jsonb) as r(${Object.entries(COLUMNS)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})
  on conflict do nothing returning request_id`;

/** Adds to what the minutes hold already. The order is the key's, always, so that two writers never wait for each other in a circle. */
const rollup = (table: string, key: Record<string, string>) => {
  const by = Object.keys(key).join(', ');
  return `insert into ${table} as r (${by}, count, errors, rate_limited, bytes_in, bytes_out, latency, upstream)
  select ${by}, count, errors, rate_limited, bytes_in, bytes_out, latency, upstream
  from jsonb_to_recordset($1::jsonb) as d(${Object.entries(key)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')}, count bigint, errors bigint, rate_limited bigint, bytes_in bigint, bytes_out bigint, latency int[], upstream int[])
  order by ${by}
  on conflict (${by}) do update set
    count = r.count + excluded.count, errors = r.errors + excluded.errors, rate_limited = r.rate_limited + excluded.rate_limited,
    bytes_in = r.bytes_in + excluded.bytes_in, bytes_out = r.bytes_out + excluded.bytes_out,
    latency = (select array_agg(coalesce(a, 0) + coalesce(b, 0) order by i) from unnest(r.latency, excluded.latency) with ordinality as t(a, b, i)),
    upstream = (select array_agg(coalesce(a, 0) + coalesce(b, 0) order by i) from unnest(r.upstream, excluded.upstream) with ordinality as t(a, b, i))`;
};
const SPACE = { tenant_id: 'uuid', sandbox: 'boolean' };
const CALLS = { route_id: 'uuid', environment: 'text', status_class: 'int' };
const ROLLUP = rollup('request_rollups', { ...SPACE, minute: 'timestamptz', ...CALLS });
const CALLER_ROLLUP = rollup('caller_rollups', { ...SPACE, caller_id: 'uuid', minute: 'timestamptz', ...CALLS });

/**
 * Writes a batch with its rollups and its announcement in one transaction. A row that is there already (a batch replayed after a crash) is
 * neither written nor counted again.
 */
export function insertRows(pool: Pool, rows: readonly LogRow[]): Promise<void> {
  return withClient(pool, async (client) => {
    await inTransaction(client, () => copyAll(client, rows)).catch(async (error: unknown) => {
      if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
      await client.query('rollback');
      await inTransaction(client, () => insertNew(client, rows));
    });
  });
}

const UNIQUE_VIOLATION = '23505';

async function inTransaction(client: PoolClient, work: () => Promise<readonly LogRow[]>): Promise<void> {
  await client.query('begin');
  const counted = await work();
  if (counted.length > 0) await tell(client, counted);
  await client.query('commit');
}

async function copyAll(client: PoolClient, rows: readonly LogRow[]): Promise<readonly LogRow[]> {
  await copyRows(client, 'request_logs', COPIED, rows);
  return rows;
}

async function insertNew(client: PoolClient, rows: readonly LogRow[]): Promise<readonly LogRow[]> {
  const inserted = await client.query<{ request_id: string }>({ name: 'log-insert', text: INSERT, values: [JSON.stringify(rows)] });
  const fresh = new Set(inserted.rows.map((row) => row.request_id));
  return rows.filter((row) => fresh.has(row.request_id));
}

/** Counts the rows and says that they are there. */
async function tell(client: PoolClient, rows: readonly LogRow[]): Promise<void> {
  await client.query({ name: 'log-rollup', text: ROLLUP, values: [JSON.stringify(rollups(rows.map((row) => ({ row }))))] });
  const byCaller = rows.flatMap((row) => callersOf(row).map((caller_id) => ({ row, caller_id })));
  if (byCaller.length > 0)
    await client.query({ name: 'log-caller-rollup', text: CALLER_ROLLUP, values: [JSON.stringify(rollups(byCaller))] });
  await client.query({ name: 'log-day-counts', text: DAY_COUNTS, values: [JSON.stringify(dayCounts(rows))] });
  const spaces = [...new Set(rows.map((row) => `${row.tenant_id}:${row.sandbox ? 'test' : 'live'}`))];
  await client.query({ name: 'log-notify', text: "select pg_notify('request_logged', s) from unnest($1::text[]) as s", values: [spaces] });
}

/** Calls of one minute, route, environment and class together, and of one caller where one is named. */
function rollups(calls: readonly { row: LogRow; caller_id?: string }[]) {
  const groups = Map.groupBy(calls, ({ row, caller_id }) =>
    [row.tenant_id, row.sandbox, caller_id, row.ts.slice(0, 16), row.route_id, countedEnvironment(row), classOf(row)].join(' '),
  );
  return [...groups.values()].map((group) => {
    const { row: first, caller_id } = group[0] as (typeof calls)[number];
    const sum = (of: (row: LogRow) => number) => group.reduce((total, { row }) => total + of(row), 0);
    return {
      tenant_id: first.tenant_id,
      sandbox: first.sandbox,
      caller_id,
      minute: `${first.ts.slice(0, 16)}:00Z`,
      route_id: first.route_id ?? NO_ROUTE,
      environment: countedEnvironment(first),
      status_class: classOf(first),
      count: group.length,
      errors: sum((row) => (row.error !== null || (row.status_code ?? 0) >= 500 ? 1 : 0)),
      rate_limited: sum((row) => (row.rate_limited ? 1 : 0)),
      bytes_in: sum((row) => row.request_bytes),
      bytes_out: sum((row) => row.response_bytes),
      latency: histogram(group.map(({ row }) => row.latency_ms)),
      upstream: histogram(group.map(({ row }) => row.upstream_ms)),
    };
  });
}

/** The key of a call and the client it was matched to: the call counts for each. */
const callersOf = (row: LogRow): string[] => [row.api_key_id, row.matched_client_id].filter((id) => id !== null);

/** Names that callers make up are counted as none: each would be a row of its own. */
const countedEnvironment = (row: LogRow): string => (row.error === 'environment_not_configured' ? '' : (row.environment ?? ''));

/** 2 to 5; 0 for calls whose caller went away. */
const classOf = (row: LogRow): number => Math.floor((row.status_code ?? 0) / 100);

function histogram(values: readonly (number | null)[]): number[] {
  const counts = emptyBuckets();
  for (const ms of values) {
    if (ms === null) continue;
    const bucket = bucketOf(ms);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}
