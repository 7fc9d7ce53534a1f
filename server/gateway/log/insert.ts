import type { Pool, PoolClient } from 'pg';
import { withClient } from '../with-client.ts';
import { type CopyColumn, copyRows } from './copy.ts';
import { writeRollups } from './rollups.ts';
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
  user_id: 'uuid',
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
  await writeRollups(client, rows);
  const spaces = new Set<string>();
  for (const { tenant_id, sandbox } of rows) spaces.add(sandbox ? `${tenant_id}:test` : `${tenant_id}:live`);
  await client.query({
    name: 'log-notify',
    text: "select pg_notify('request_logged', s) from unnest($1::text[]) as s",
    values: [[...spaces]],
  });
}
