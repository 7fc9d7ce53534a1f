import type pg from 'pg';
import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';
import { openPool } from './healing-pool.ts';

const held = processState('sql', (): { pool?: pg.Pool | undefined; ownRows?: pg.Pool | undefined } => ({}));

/** Raw connections for hot paths and bulk work: named statements, no ORM. The gateway uses this file without loading Prisma. */
export function sql(): pg.Pool {
  held.pool ??= openPool({ ...connection(), max: 6 });
  return held.pool;
}

/** Connections that act as the row-level-security role for as long as they live: what `ownRows` reads with. */
export function ownSql(): pg.Pool {
  held.ownRows ??= openPool({
    ...connection(),
    max: 6,
    query_timeout: 10_000,
    // A connection on which this fails is closed and never lent.
    onConnect: async (client) => void (await client.query('set role sallyport_app')),
  });
  return held.ownRows;
}

export async function closeSql(): Promise<void> {
  const { pool, ownRows } = held;
  held.pool = undefined;
  held.ownRows = undefined;
  await Promise.all([pool?.end(), ownRows?.end()]);
}

/** A statement that takes longer has its connection given up, so that the next one can lead to another server. */
const LONGEST_STATEMENT_MS = 600_000;
const longest = processState('longest-statement', () => ({ ms: LONGEST_STATEMENT_MS }));

/** Where callers wait for every statement, as at the gateway: none on connections of this process that are opened from now on may take longer. */
export function limitEveryStatement(ms: number): void {
  longest.ms = ms;
}

export const connection = (): pg.PoolConfig => ({
  connectionString: env.DATABASE_URL,
  connectionTimeoutMillis: 5_000,
  idleTimeoutMillis: 30_000,
  query_timeout: longest.ms,
  keepAlive: true,
});
