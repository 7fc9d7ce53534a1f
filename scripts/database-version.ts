import type pg from 'pg';

/** The oldest PostgreSQL that gets fixes, and that every release is tested with (scripts/postgres-versions.test.ts). */
export const OLDEST = 15;

/** Why a server of this `server_version_num` can't be used, with the next step; undefined when it can. */
export const versionProblem = (number: number): string | undefined =>
  number >= OLDEST * 10_000
    ? undefined
    : `The server is PostgreSQL ${Math.floor(number / 10_000)}, and Sallyport needs ${OLDEST} or newer. Upgrade it (pg_upgrade or pg_dump), or set DATABASE_URL to another server.`;

/** The same of the server that a connection leads to. */
export async function versionProblemOf(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ number: number }>("select current_setting('server_version_num')::int as number");
  return versionProblem(rows[0]?.number ?? 0);
}
