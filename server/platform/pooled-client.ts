import type { Pool, PoolClient } from 'pg';

/**
 * Lends one connection of the pool to `work`. A connection that dies while it is lent tells its query and, besides, emits `error`: without a
 * listener that would end the process. One on which `work` failed is not used again, since nobody knows what state it is in.
 */
export async function withPooledClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  client.on('error', ignore);
  let broken = true;
  try {
    const result = await work(client);
    broken = false;
    return result;
  } finally {
    // A dying one may tell so more than once, also after it was given back.
    if (!broken) client.off('error', ignore);
    client.release(broken);
  }
}

const ignore = (): void => {};
