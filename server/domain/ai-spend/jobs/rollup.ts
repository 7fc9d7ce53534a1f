import type { Pool } from 'pg';
import { withPooledClient } from '#server/platform/pooled-client.ts';
import { sql } from '#server/platform/sql.ts';

/** Events folded in one transaction. */
const MOST = 20_000;
const LOCK_WAIT = '5s';

/**
 * Adds events to the usage of their day, each exactly once: those above the watermark, up to the last one that can no longer be preceded by another. Figures
 * read the days and the events above the watermark, so they never lag. @returns events folded
 */
export async function foldUsage(pool: Pool = sql()): Promise<number> {
  const horizon = await lastSettled(pool);
  for (let folded = 0; ; ) {
    const n = await foldSome(pool, horizon);
    folded += n;
    if (n < MOST) return folded;
  }
}

/**
 * The highest number of an event that was committed, so that no lower one is still to come: writers hold the lock, shared, from before they take numbers
 * until they commit.
 */
const lastSettled = (pool: Pool): Promise<string> =>
  withPooledClient(pool, async (client) => {
    await client.query(`begin; set local lock_timeout = '${LOCK_WAIT}'`);
    await client.query("select pg_advisory_xact_lock(hashtext('ai_usage_events'))");
    const { rows } = await client.query<{ seq: string }>('select coalesce(max(seq), 0) as seq from ai_usage_events');
    await client.query('commit');
    return rows[0]?.seq ?? '0';
  });

const foldSome = (pool: Pool, horizon: string): Promise<number> =>
  withPooledClient(pool, async (client) => {
    await client.query('begin');
    const { rows } = await client.query<{ seq: string }>('select seq from ai_usage_watermark for update');
    const after = rows[0]?.seq ?? '0';
    const { rows: last } = await client.query<{ seq: string | null; n: number }>(
      'select max(seq) as seq, count(*)::int as n from (select seq from ai_usage_events where seq > $1 and seq <= $2 order by seq limit $3) e',
      [after, horizon, MOST],
    );
    const { seq = null, n = 0 } = last[0] ?? {};
    if (seq !== null) {
      await client.query(FOLD, [after, seq]);
      await client.query('update ai_usage_watermark set seq = $1', [seq]);
    }
    await client.query('commit');
    return n;
  });

const KEYS = 'tenant_id, sandbox, date, dimensions';
const DIMENSIONS = 'gateway_id, agent_id, mcp_server_id, token_id, "user", team, provider, model, tags';
export const SUMS = [
  'requests',
  'refused_requests',
  'errors',
  'cache_hits',
  'unpriced_requests',
  'estimated_requests',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost_nano',
] as const;

// Rows are written in the order of their keys, so that two runs never wait for each other in a circle.
const FOLD = `insert into ai_usage_daily as d (${KEYS}, ${DIMENSIONS}, ${SUMS.join(', ')})
  select tenant_id, sandbox, (ts at time zone 'UTC')::date as date,
    sha256(convert_to(jsonb_build_array(${DIMENSIONS})::text, 'UTF8')) as dimensions, ${DIMENSIONS}, ${SUMS.map((sum) => `sum(${sum})`).join(', ')}
  from ai_usage_events where seq > $1 and seq <= $2
  group by 1, 2, 3, 4, ${DIMENSIONS} order by 1, 2, 3, 4
  on conflict (${KEYS}) do update set ${SUMS.map((sum) => `${sum} = d.${sum} + excluded.${sum}`).join(', ')}`;
