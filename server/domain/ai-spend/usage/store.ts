import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Group } from './schema.ts';

export type Figures = {
  requests: number;
  refused_requests: number;
  errors: number;
  cache_hits: number;
  unpriced_requests: number;
  estimated_requests: number;
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cost_usd: number;
};
/** Days of UTC, both included, as YYYY-MM-DD. */
export type UsageFilters = { from: string; to: string; agent_id?: string | undefined; gateway_id?: string | undefined };

const SUMS = Prisma.raw(
  [
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
  ]
    .map((sum) => `coalesce(sum(${sum}), 0)::float8 as ${sum}`)
    .concat('coalesce(sum(cost_nano), 0)::float8 / 1e9 as cost_usd')
    .join(', '),
);

/** Days that were folded, and the events that weren't yet: one statement, so that no event is in both or in none. */
const usage = (ctx: Ctx, { from, to, agent_id, gateway_id }: UsageFilters) => {
  const own = Prisma.sql`tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
  const only = Prisma.sql`${agent_id ? Prisma.sql`and agent_id = ${agent_id}::uuid` : Prisma.empty} ${
    gateway_id ? Prisma.sql`and gateway_id = ${gateway_id}::uuid` : Prisma.empty
  }`;
  return Prisma.sql`(
    select date, ${COLUMNS} from ai_usage_daily where ${own} and date between ${from}::date and ${to}::date ${only}
    union all
    select (ts at time zone 'UTC')::date as date, ${COLUMNS} from ai_usage_events
      where ${own} and seq > (select seq from ai_usage_watermark) and ts >= ${from}::date::timestamp at time zone 'UTC'
        and ts < (${to}::date + 1)::timestamp at time zone 'UTC' ${only}) as used`;
};
const COLUMNS = Prisma.raw(
  `gateway_id, agent_id, mcp_server_id, token_id, "user", team, provider, model, tags, requests, refused_requests, errors, cache_hits, unpriced_requests,
    estimated_requests, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost_nano`,
);

export const totalsOf = async (tx: Tx, ctx: Ctx, filters: UsageFilters): Promise<Figures> => {
  const [row] = await tx.$queryRaw<Figures[]>`select ${SUMS} from ${usage(ctx, filters)}`;
  return row as Figures;
};

/** Models that were called, the most expensive first. */
export const byModel = (tx: Tx, ctx: Ctx, filters: UsageFilters) => tx.$queryRaw<({ provider: string; model: string } & Figures)[]>`
  select coalesce(provider, 'custom') as provider, model, ${SUMS} from ${usage(ctx, filters)} where model is not null
  group by 1, 2 order by sum(cost_nano) desc, 2, 1`;

export const byDay = (tx: Tx, ctx: Ctx, filters: UsageFilters) => tx.$queryRaw<({ date: string } & Figures)[]>`
  select day::date::text as date, ${SUMS} from generate_series(${filters.from}::date, ${filters.to}::date, interval '1 day') as day
    left join ${usage(ctx, filters)} on used.date = day::date group by 1 order by 1`;

/** Groups of usage, the most expensive first; at most `most`. */
export const byGroup = (tx: Tx, ctx: Ctx, filters: UsageFilters, group: Group, most: number) =>
  tx.$queryRaw<({ group: string | null } & Figures)[]>`
    select ${groupColumn(group)} as "group", ${SUMS} from ${usage(ctx, filters)} group by 1 order by sum(cost_nano) desc, 1 limit ${most}`;

function groupColumn(group: Group): Prisma.Sql {
  if (group.startsWith('tag:')) return Prisma.sql`tags ->> ${group.slice('tag:'.length)}::text`;
  return COLUMN_OF[group as keyof typeof COLUMN_OF];
}
const COLUMN_OF = {
  user: Prisma.sql`"user"`,
  team: Prisma.sql`team`,
  agent: Prisma.sql`agent_id::text`,
  model: Prisma.sql`model`,
  provider: Prisma.sql`provider`,
  gateway: Prisma.sql`gateway_id::text`,
  day: Prisma.sql`date::text`,
  token: Prisma.sql`token_id::text`,
  mcp_server: Prisma.sql`mcp_server_id::text`,
} as const;

/** What people call the things that groups name. */
export async function labelsOf(tx: Tx, ctx: Ctx, group: Group, keys: readonly (string | null)[]): Promise<Map<string, string>> {
  const ids = keys.filter((key) => key !== null);
  const where = { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox };
  const select = { id: true, name: true } as const;
  const named = (rows: { id: string; name: string | null }[]) =>
    new Map(rows.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])));
  if (ids.length === 0) return new Map();
  if (group === 'agent') return named(await tx.ai_agents.findMany({ where: { ...where, id: { in: ids } }, select }));
  if (group === 'gateway') return named(await tx.ai_gateways.findMany({ where: { ...where, id: { in: ids } }, select }));
  if (group === 'token') {
    const rows = await tx.ai_tokens.findMany({ where: { ...where, id: { in: ids } }, select: { ...select, prefix: true } });
    return named(rows.map(({ id, name, prefix }) => ({ id, name: name ?? prefix })));
  }
  if (group === 'user') {
    const rows = await tx.ai_attributed_users.findMany({
      where: { ...where, external_id: { in: ids } },
      select: { external_id: true, display_name: true },
    });
    return named(rows.map(({ external_id, display_name }) => ({ id: external_id, name: display_name })));
  }
  return new Map();
}
