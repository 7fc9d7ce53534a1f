import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { firstSegmentOf, looksLikeCredential } from './observations/rules.shared.ts';

const DAY = 24 * 3_600_000;
/** How far back suggestions look. */
export const WINDOW = 30 * DAY;
/** Rows of calls that ended this long before may still be on their way into the log. */
const LATE = 15 * 60_000;
const PREFIXES = 10;

type DayRow = {
  host: string;
  day: string;
  calls: number;
  first_seen: string;
  last_seen: string;
  methods: Record<string, number>;
  statuses: Record<string, number>;
  modes: Record<string, number>;
  /** A null stands for calls without one. */
  paths: (string | null)[];
  agents: (string | null)[];
};

/**
 * Adds up calls without a route by host and day, from the day of the watermark on: each of these days anew, so a row that came late is counted once.
 * @returns the new watermark
 */
export async function readTraffic(tx: Tx, ctx: Ctx, watermark: Date | null): Promise<Date> {
  const earliest = ctx.now.getTime() - WINDOW;
  const from = startOfDay(new Date(Math.max(earliest, watermark ? watermark.getTime() - LATE : 0)));
  const rows = await tx.$queryRaw<DayRow[]>`
    with calls as materialized (
      select lower(upstream_host) as host, (ts at time zone 'UTC')::date as day, ts, coalesce(method, 'GET') as method, upstream_status / 100 || 'xx' as status,
        coalesce(trace->'proxied'->>'credential_mode', 'none') as mode, substring(path from '^/[^/?#]*') as path, split_part(user_agent, ' ', 1) as agent
      from request_logs
      where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ts >= ${from} and proxy_mode in ('ephemeral', 'wrap_gateway')
        and upstream_status is not null and upstream_host is not null),
    totals as (select host, day, count(*)::float8 as calls, min(ts) as first_seen, max(ts) as last_seen, (array_agg(distinct left(path, 256)))[1:50] as paths,
      (array_agg(distinct left(agent, 64)))[1:20] as agents from calls group by 1, 2),
    methods as (select host, day, jsonb_object_agg(method, n) as methods from (select host, day, method, count(*) as n from calls group by 1, 2, 3) m group by 1, 2),
    statuses as (select host, day, jsonb_object_agg(status, n) as statuses from (select host, day, status, count(*) as n from calls group by 1, 2, 3) s group by 1, 2),
    modes as (select host, day, jsonb_object_agg(mode, n) as modes from (select host, day, mode, count(*) as n from calls group by 1, 2, 3) m group by 1, 2)
    select host, day::text, calls, to_json(first_seen)#>>'{}' as first_seen, to_json(last_seen)#>>'{}' as last_seen, methods, statuses, modes, paths, agents
    from totals join methods using (host, day) join statuses using (host, day) join modes using (host, day)`;
  if (rows.length > 0) await store(tx, ctx, rows);
  await tx.opportunity_traffic.deleteMany({ where: { ...own(ctx), day: { lt: startOfDay(new Date(earliest)) } } });
  return ctx.now;
}

const startOfDay = (at: Date): Date => new Date(Math.floor(at.getTime() / DAY) * DAY);

/** What outlives the log holds no path segment and no product name that could be a credential. */
function store(tx: Tx, ctx: Ctx, rows: readonly DayRow[]) {
  const clean = rows.map(({ paths, agents, ...row }) => ({
    ...row,
    prefixes: [...new Set(paths.filter(isText).map(prefixOf))].slice(0, PREFIXES),
    agents: agents
      .filter(isText)
      .filter((agent) => /^[A-Za-z0-9_.-]{1,40}(?:\/[0-9A-Za-z.+-]{1,20})?$/.test(agent) && !looksLikeCredential(agent)),
  }));
  return tx.$executeRaw`
    insert into opportunity_traffic (tenant_id, sandbox, host, day, calls, first_seen, last_seen, methods, statuses, modes, prefixes, agents)
    select ${ctx.tenant_id}::uuid, ${ctx.sandbox}, r.* from jsonb_to_recordset(${JSON.stringify(clean)}::jsonb)
      as r(host text, day date, calls bigint, first_seen timestamptz, last_seen timestamptz, methods jsonb, statuses jsonb, modes jsonb, prefixes text[], agents text[])
    on conflict (tenant_id, sandbox, host, day) do update set calls = excluded.calls, first_seen = excluded.first_seen, last_seen = excluded.last_seen,
      methods = excluded.methods, statuses = excluded.statuses, modes = excluded.modes, prefixes = excluded.prefixes, agents = excluded.agents`;
}

const isText = (text: string | null): text is string => text !== null && text !== '';

const prefixOf = (path: string): string => {
  const segment = firstSegmentOf(path);
  return looksLikeCredential(segment) ? '/' : segment;
};
