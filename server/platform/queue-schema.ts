import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { connection } from './db.ts';

/** Brings the queue's own schema up to date. The worker does so at every start; an installer may do it earlier. */
export async function prepareQueue(url?: string): Promise<void> {
  const pool = new pg.Pool({ ...connection(), ...(url ? { connectionString: url } : {}), max: 1 });
  // What was running on a lost connection is told by its own promise.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  try {
    await runMigrations({ pgPool: pool });
  } finally {
    await pool.end();
  }
}
