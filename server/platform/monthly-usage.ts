import { batching } from './batching.ts';
import { sql } from './sql.ts';

/** One workspace's use of what a plan counts by month (UTC). `limit` is the plan's own; an operator's override comes before it. Null: unlimited. */
export type MonthlyUse = { tenant_id: string; kind: string; n: number; limit: number | null };

/**
 * Counts `n` more in this month, or nothing when that would pass the limit: one statement decides and counts, so parallel calls never pass it together.
 * Calls of one workspace that arrive at once share it. Returns whether they were counted.
 */
export const takeMonthly = (use: MonthlyUse): Promise<boolean> => take(`${use.tenant_id}:${use.kind}:${use.limit}`, use);

const take = batching<MonthlyUse, boolean>('monthly-usage', {
  most: 500,
  async run(uses) {
    const [first] = uses as readonly [MonthlyUse];
    const all = uses.reduce((sum, { n }) => sum + n, 0);
    if (await counted({ ...first, n: all })) return uses.map(() => true);
    if (uses.length === 1) return [false];
    // Together they pass it: each for itself, in their order.
    const admitted: boolean[] = [];
    for (const use of uses) admitted.push(await counted(use));
    return admitted;
  },
});

async function counted({ tenant_id, kind, n, limit }: MonthlyUse): Promise<boolean> {
  if (n === 0) return true;
  const now = new Date();
  const values = [tenant_id, kind, now.getUTCFullYear(), now.getUTCMonth() + 1, n, limit];
  const { rowCount } = await sql().query({ name: 'monthly-usage-take', text: TAKE, values });
  return rowCount === 1;
}

const TAKE = `with ceiling as (
    select case when o.tenant_id is null then $6::bigint else o.value end as most
    from (select 1) as one left join tenant_limit_overrides o
      on o.tenant_id = $1::uuid and o.kind = $2 and (o.expires_at is null or o.expires_at > now()))
  insert into usage_counters (tenant_id, kind, year, month, n)
  select $1::uuid, $2, $3::int, $4::int, $5::bigint from ceiling where most is null or $5::bigint <= most
  on conflict (tenant_id, kind, year, month) do update set n = usage_counters.n + excluded.n
    where (select most from ceiling) is null or usage_counters.n + excluded.n <= (select most from ceiling)
  returning n`;
