import type { PoolClient } from 'pg';
import { clickHouseInsert } from '#server/platform/clickhouse.ts';
import { withPooledClient } from '#server/platform/pooled-client.ts';
import { sql } from '#server/platform/sql.ts';
import { counter } from '#server/platform/telemetry/meters.ts';
import { COLUMNS, prepareTable } from './table.ts';

// How calls get to ClickHouse: the worker reads what the log's writer wrote, in the order of IDs, and notes in PostgreSQL how far it is. So ClickHouse has every
// row at least once, what it can't take now waits where it is, and no call knows of it.

const BATCH = 5_000;
const copiedRows = counter({ name: 'sallyport_log_history_rows', help: 'Rows of the request log that ClickHouse took' });

/** As they are, but for the space, and for the trace, which is text there. */
const ROWS = `select id::text as id, row_to_json(l)::text as line from (
    select ${Object.keys(COLUMNS)
      .map((name) => (name === 'test' ? 'coalesce(sandbox, false) as test' : name === 'trace' ? 'trace::text as trace' : name))
      .join(', ')}
    from request_logs where id > $1 and id <= $2 order by id limit ${BATCH}) l order by l.id`;

/** Copies the next calls. One worker at a time; another one finds nothing to do. @returns whether there are more */
export async function copyCalls(): Promise<boolean> {
  try {
    const { rows, isLast } = await withPooledClient(sql(), copyNext);
    copiedRows.cells[0] = (copiedRows.cells[0] as number) + rows;
    return !isLast;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await sql().query('update request_log_history set failing_since = coalesce(failing_since, now()), failure = $1', [
      message.slice(0, 500),
    ]);
    throw error;
  }
}

async function copyNext(client: PoolClient): Promise<{ rows: number; isLast: boolean }> {
  await client.query('begin');
  const { rows: locks } = await client.query<{ mine: boolean }>(
    "select pg_try_advisory_xact_lock(hashtextextended('copy calls', 0)) as mine",
  );
  if (!locks[0]?.mine) {
    await client.query('rollback');
    return { rows: 0, isLast: true };
  }
  const { store, copied } = await prepareTable();
  // The horizon in a statement before the rows: what is not yet committed has a higher ID.
  const { rows: horizons } = await client.query<{ id: string }>("select feed_horizon('request_logs') as id");
  const { rows } = await client.query<{ id: string; line: string }>(ROWS, [String(copied), horizons[0]?.id]);
  const last = rows.at(-1);
  if (last)
    await clickHouseInsert(
      store,
      Object.keys(COLUMNS),
      rows.map(({ line }) => line),
    );
  await client.query(
    `update request_log_history set copied = greatest(copied, $1::bigint), failing_since = null, failure = null
      where copied < $1::bigint or failing_since is not null`,
    [last?.id ?? 0],
  );
  await client.query('commit');
  return { rows: rows.length, isLast: rows.length < BATCH };
}
