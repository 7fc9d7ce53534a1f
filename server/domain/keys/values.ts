import { sql } from '#server/platform/sql.ts';
import { SEALED_TABLES } from './sealed-tables.ts';

/** How many values each version of the workspace's key still wraps; over both spaces, hence outside row-level security. */
export async function valuesByVersion(tenantId: string): Promise<Map<number, number>> {
  const parts = SEALED_TABLES.map(
    (t) => `select ${t.version} as version, count(*) as n from ${t.table} where tenant_id = $1 and ${t.wrapped} is not null group by 1`,
  );
  const { rows } = await sql().query<{ version: number; n: number }>(
    `select version, sum(n)::float8 as n from (${parts.join(' union all ')}) v group by 1`,
    [tenantId],
  );
  return new Map(rows.map((r) => [r.version, r.n]));
}
