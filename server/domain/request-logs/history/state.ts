import { ClickHouseError, clickHouseRows, hasClickHouse } from '#server/platform/clickhouse.ts';
import { sql } from '#server/platform/sql.ts';
import { observe } from '#server/platform/telemetry/meters.ts';

/** How far the copy in ClickHouse is. `waiting_s`: since when the oldest call that it lacks has been in the log, 0 without one. */
export type HistoryState = { waiting_s: number; failing_since: Date | null; failure: string | null; read_there_until: Date | null };

/** IDs tell the microsecond of their insert (migration request_log_ids); those of older releases tell nothing, and are as old as can be. */
const STATE = `
  select failing_since, failure, cut_until as read_there_until,
    coalesce((select greatest(0, extract(epoch from now()) - (id >> 11) / 1000000.0) from request_logs where id > h.copied order by id limit 1), 0)::float8 as waiting_s
  from request_log_history h`;

/** Asks PostgreSQL alone. */
export async function historyState(client: { query: ReturnType<typeof sql>['query'] } = sql()): Promise<HistoryState | undefined> {
  const { rows } = await client.query<HistoryState>(STATE);
  return rows[0];
}

/** What the server says of itself. @throws ClickHouseError */
export async function clickHouseVersion(): Promise<string> {
  const [row] = await clickHouseRows<{ version: string }>('select version() as version');
  if (!row) throw new ClickHouseError(new Error('no answer'));
  return row.version;
}

/** Has it measured when somebody asks. Returns what ends it. */
export function measureHistory(): () => void {
  if (!hasClickHouse()) return () => {};
  return observe(
    'gauge',
    {
      name: 'sallyport_log_history_waiting_seconds',
      help: 'How long the oldest call that ClickHouse lacks has been in the log',
      unit: 's',
    },
    async () => [{ labels: {}, value: (await historyState())?.waiting_s ?? 0 }],
  );
}
