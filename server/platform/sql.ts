import pg from 'pg';
import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';

const held = processState('sql', (): { pool?: pg.Pool | undefined } => ({}));

/** Raw connections for hot paths and bulk work: named statements, no ORM. The gateway uses this file without loading Prisma. */
export function sql(): pg.Pool {
  held.pool ??= openPool({ ...connection(), max: 6 });
  return held.pool;
}

export async function closeSql(): Promise<void> {
  const { pool } = held;
  held.pool = undefined;
  await pool?.end();
}

export const connection = (): pg.PoolConfig => ({
  connectionString: env.DATABASE_URL,
  connectionTimeoutMillis: 5_000,
  idleTimeoutMillis: 30_000,
  keepAlive: true,
});

/** A pool that replaces a lost connection at its next use. Without the two listeners a lost connection would end the process. */
function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
