import type { Pool, PoolClient } from 'pg';
import { withPooledClient } from '#server/platform/pooled-client.ts';
import { batchOf, type LogBatch } from './batch.ts';
import { raiseCallEvents } from './call-events.ts';
import { COLUMNS, TYPES } from './columns.ts';
import { copyIn } from './copy.ts';
import { writeRollups } from './rollups.ts';
import type { LogRow } from './row.ts';
import type { Tally } from './tally.ts';

const names = Object.keys(TYPES).join(', ');

/** For batches with rows that are there already, which COPY cannot leave out. */
const INSERT = `insert into request_logs (${names})
  select ${names} from jsonb_to_recordset($1::jsonb) as r(${Object.entries(TYPES)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})
  on conflict do nothing returning request_id`;

/**
 * Writes a batch with its rollups and its announcement in one transaction. A row that is there already (a batch replayed after a crash) is
 * neither written nor counted again.
 */
export function insertBatch(pool: Pool, batch: LogBatch): Promise<void> {
  return withPooledClient(pool, async (client) => {
    await inTransaction(client, () => copyAll(client, batch)).catch(async (error: unknown) => {
      if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
      await client.query('rollback');
      await inTransaction(client, () => insertNew(client, batch.rows()));
    });
  });
}

export const insertRows = (pool: Pool, rows: readonly LogRow[]): Promise<void> => insertBatch(pool, batchOf(rows));

const UNIQUE_VIOLATION = '23505';

async function inTransaction(client: PoolClient, work: () => Promise<readonly Tally[]>): Promise<void> {
  await client.query('begin');
  const tallies = await work();
  if (tallies.length > 0) {
    await tell(client, tallies);
    await raiseCallEvents(client, tallies);
  }
  await client.query('commit');
}

async function copyAll(client: PoolClient, batch: LogBatch): Promise<readonly Tally[]> {
  await copyIn(client, 'request_logs', COLUMNS, batch.message());
  return batch.tallies();
}

async function insertNew(client: PoolClient, rows: readonly LogRow[]): Promise<readonly Tally[]> {
  const inserted = await client.query<{ request_id: string }>({ name: 'log-insert', text: INSERT, values: [JSON.stringify(rows)] });
  const fresh = new Set(inserted.rows.map((row) => row.request_id));
  return batchOf(rows.filter((row) => fresh.has(row.request_id))).tallies();
}

/** Counts the rows and says that they are there. */
async function tell(client: PoolClient, tallies: readonly Tally[]): Promise<void> {
  await writeRollups(client, tallies);
  const spaces = new Set<string>();
  for (const { tenant_id, sandbox } of tallies) spaces.add(sandbox ? `${tenant_id}:test` : `${tenant_id}:live`);
  await client.query({
    name: 'log-notify',
    text: "select pg_notify('request_logged', s) from unnest($1::text[]) as s",
    values: [[...spaces]],
  });
}
