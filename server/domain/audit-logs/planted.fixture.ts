import { sql } from '#server/platform/sql.ts';

/** Writes as somebody who owns the database: no trigger stops them. */
export async function write(statement: string, values: unknown[] = []) {
  const client = await sql().connect();
  try {
    await client.query(`set session_replication_role = 'replica'`);
    return await client.query(statement, values);
  } finally {
    client.release(true);
  }
}
