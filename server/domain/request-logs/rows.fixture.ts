import { randomUUID } from 'node:crypto';
import { sql } from '#server/platform/sql.ts';

export type Row = {
  request_id: string;
  tenant_id: string;
  route_id: string | null;
  sandbox: boolean | null;
  ts: Date;
  status_code: number | null;
  method: string;
  path: string;
  environment: string | null;
  src_ip: string | null;
  latency_ms: number | null;
  error: string | null;
  client_name: string | null;
  user_agent: string | null;
};

/** Or since midnight, where that is less: figures of today have it. */
export const aMinuteAgo = (): Date => new Date(Math.max(Date.now() - 60_000, new Date().setUTCHours(0, 0, 0, 0)));

/** A call of a minute ago, unless told otherwise. */
export const row = (tenant_id: string, over: Partial<Row> = {}): Row => ({
  request_id: randomUUID(),
  tenant_id,
  route_id: null,
  sandbox: false,
  ts: aMinuteAgo(),
  status_code: 200,
  method: 'GET',
  path: '/v1/things?q=1',
  environment: 'production',
  src_ip: '203.0.113.7',
  latency_ms: 12,
  error: null,
  client_name: null,
  user_agent: 'curl/8',
  ...over,
});

const COLUMNS = [
  'request_id',
  'tenant_id',
  'route_id',
  'sandbox',
  'ts',
  'status_code',
  'method',
  'path',
  'environment',
  'src_ip',
  'latency_ms',
  'error',
  'client_name',
  'user_agent',
] as const;

/** Writes rows in their order and announces them, as the gateway does. @returns their ids */
export async function insert(rows: readonly Row[], client: { query: ReturnType<typeof sql>['query'] } = sql()): Promise<bigint[]> {
  const types = {
    route_id: 'uuid',
    request_id: 'uuid',
    tenant_id: 'uuid',
    sandbox: 'boolean',
    ts: 'timestamptz',
    status_code: 'int',
    latency_ms: 'int',
  } as Record<string, string>;
  const { rows: ids } = await client.query<{ id: string }>(
    `insert into request_logs (${COLUMNS.join(', ')}) select ${COLUMNS.join(', ')} from jsonb_to_recordset($1::jsonb) as r(${COLUMNS.map((c) => `${c} ${types[c] ?? 'text'}`).join(', ')}) returning id`,
    [JSON.stringify(rows)],
  );
  for (const space of new Set(rows.map((r) => `${r.tenant_id}:${r.sandbox ? 'test' : 'live'}`)))
    await client.query('select pg_notify($1, $2)', ['request_logged', space]);
  return ids.map((r) => BigInt(r.id));
}
