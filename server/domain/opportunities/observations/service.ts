import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { pageOfAll } from '#server/kernel/page.ts';
import { canonicalHost } from '#server/kernel/upstream-url.ts';
import { egress } from '#server/platform/egress.ts';
import { sql } from '#server/platform/sql.ts';
import { coveringRoutes } from '../coverage.ts';
import type { IgnoreHost, ListEgress, ObservedHostRef, ReportEgress } from '../schema.ts';
import { type DropReason, judgeObservation, type Observation, type RedactReason } from './judge.ts';
import { sdkName } from './rules.shared.ts';

/** Distinct keys that a space holds; further ones are dropped until old ones are forgotten. */
export const CAPACITY = 10_000;
const REPORTERS_KEPT = 20;
const SDKS_KEPT = 20;

/** Adds a report to what is known. An entry that can't be kept is counted, and never fails the call (interface rule 34 §3). */
export async function reportEgress(ctx: Ctx, { sdk, observations }: z.output<typeof ReportEgress>) {
  const reasons: Partial<Record<DropReason, number>> = {};
  const redacted: Partial<Record<RedactReason, number>> = {};
  const kept: { observation: Observation; redacted: RedactReason | null }[] = [];
  for (const entry of observations) {
    const judged = judgeObservation(entry, ctx.now, egress().settings.ownHosts);
    if (judged.ok) kept.push(judged);
    else reasons[judged.reason] = (reasons[judged.reason] ?? 0) + 1;
  }
  const stored = kept.length === 0 ? new Set<string>() : await store(ctx, sdkName(sdk), merged(kept.map((k) => k.observation)));
  let accepted = 0;
  for (const { observation, redacted: reason } of kept) {
    if (!stored.has(keyOf(observation))) reasons.capacity = (reasons.capacity ?? 0) + 1;
    else {
      accepted += 1;
      if (reason) redacted[reason] = (redacted[reason] ?? 0) + 1;
    }
  }
  return {
    accepted,
    dropped: observations.length - accepted,
    reasons,
    ...(Object.keys(redacted).length > 0 ? { redacted } : {}),
  };
}

const keyOf = ({ host, first_segment, method, header_name }: Omit<Observation, 'count' | 'first_seen' | 'last_seen'>) =>
  `${host} ${first_segment} ${method} ${header_name}`;

/** One statement must not write a row twice. */
function merged(observations: readonly Observation[]): Observation[] {
  const byKey = new Map<string, Observation>();
  for (const one of observations) {
    const known = byKey.get(keyOf(one));
    byKey.set(
      keyOf(one),
      known
        ? {
            ...one,
            count: known.count + one.count,
            first_seen: known.first_seen < one.first_seen ? known.first_seen : one.first_seen,
            last_seen: known.last_seen > one.last_seen ? known.last_seen : one.last_seen,
          }
        : one,
    );
  }
  return [...byKey.values()];
}

/** @returns the keys that there was room for */
function store(ctx: Ctx, sdk: string, observations: readonly Observation[]): Promise<Set<string>> {
  const reporter = ctx.actor.id;
  return inTransaction(ctx, async (tx) => {
    const rows = await tx.$queryRaw<Pick<Observation, 'host' | 'first_segment' | 'method' | 'header_name'>[]>`
      with reported as (
        select r.*, known.host is not null as is_known,
          count(*) filter (where known.host is null) over (order by r.host, r.first_segment, r.method, r.header_name) as new_so_far
        from jsonb_to_recordset(${JSON.stringify(observations)}::jsonb)
          as r(host text, first_segment text, method text, header_name text, count bigint, first_seen timestamptz, last_seen timestamptz)
        left join egress_observations known on known.tenant_id = ${ctx.tenant_id}::uuid and known.sandbox = ${ctx.sandbox} and known.host = r.host
          and known.first_segment = r.first_segment and known.method = r.method and known.header_name = r.header_name),
      held as (select coalesce((select n from row_counts where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind = 'egress_observations'), 0) as n)
      insert into egress_observations as o (tenant_id, sandbox, host, first_segment, method, header_name, total_count, first_seen, last_seen, reported_at, sdks, reporter_ids)
      select ${ctx.tenant_id}::uuid, ${ctx.sandbox}, host, first_segment, method, header_name, count, first_seen, last_seen, ${ctx.now}, ${[sdk]}::text[],
        ${reporter === null ? [] : [reporter]}::text[]
      from reported, held where is_known or held.n + new_so_far <= ${CAPACITY}
      order by host, first_segment, method, header_name
      on conflict (tenant_id, sandbox, host, first_segment, method, header_name) do update set
        total_count = least(o.total_count + excluded.total_count, 9007199254740991),
        days_seen = o.days_seen + (case when (excluded.reported_at at time zone 'UTC')::date > (o.reported_at at time zone 'UTC')::date then 1 else 0 end),
        first_seen = least(o.first_seen, excluded.first_seen), last_seen = greatest(o.last_seen, excluded.last_seen), reported_at = excluded.reported_at,
        sdks = (excluded.sdks || array_remove(o.sdks, excluded.sdks[1]))[1:${SDKS_KEPT}::int],
        reporter_ids = (excluded.reporter_ids || array_remove(o.reporter_ids, excluded.reporter_ids[1]))[1:${REPORTERS_KEPT}::int]
      returning host, first_segment, method, header_name`;
    return new Set(rows.map(keyOf));
  });
}

type HostRow = {
  host: string;
  segments: string[];
  methods: string[];
  header_names: string[];
  sdks: string[];
  calls: number;
  first_seen: Date;
  last_seen: Date;
  ignored: boolean;
  ignored_until: Date | null;
  opportunity_id: string | null;
};

/** What was reported, by host, the busiest first (interface rule 34 §3). A space holds few enough keys to be put together at once. */
export function listObservedHosts(ctx: Ctx, query: z.output<typeof ListEgress>) {
  return read(ctx, async (tx) => {
    const rows = await hostRows(tx, ctx, query.host?.trim().toLowerCase());
    const routes = await coveringRoutes(tx, ctx);
    const all = rows.map((row) => ({ ...row, covered_by_route: routes.get(row.host) ?? null }));
    const shown = all.filter((row) => query.status === undefined || stateOf(row) === query.status);
    return pageOfAll(shown, query);
  });
}

const stateOf = ({ ignored, covered_by_route }: { ignored: boolean; covered_by_route: unknown }) =>
  ignored ? 'ignored' : covered_by_route ? 'covered' : 'uncovered';

const hostRows = (tx: Tx, ctx: Ctx, part: string | undefined) => tx.$queryRaw<HostRow[]>`
  select o.host, (array_agg(distinct o.first_segment))[1:20] as segments, array_agg(distinct o.method) as methods, array_agg(distinct o.header_name) as header_names,
    array(select distinct s from egress_observations e, unnest(e.sdks) as s
      where e.tenant_id = ${ctx.tenant_id}::uuid and e.sandbox = ${ctx.sandbox} and e.host = o.host order by s limit 20) as sdks,
    least(sum(o.total_count), 9007199254740991)::float8 as calls, min(o.first_seen) as first_seen, max(o.last_seen) as last_seen,
    i.host is not null as ignored, i.until as ignored_until, p.id::text as opportunity_id
  from egress_observations o
  left join egress_ignored_hosts i on i.tenant_id = o.tenant_id and i.sandbox = o.sandbox and i.host = o.host and (i.until is null or i.until > ${ctx.now})
  left join opportunities p on p.tenant_id = o.tenant_id and p.sandbox = o.sandbox and p.destination_host = o.host and p.source = 'agent_monitor' and p.status <> 'onboarded'
  where o.tenant_id = ${ctx.tenant_id}::uuid and o.sandbox = ${ctx.sandbox} and (${part ?? null}::text is null or position(${part ?? ''} in o.host) > 0)
  group by o.host, i.host, i.until, p.id
  order by calls desc, o.host`;

/** Hides a host and stops suggestions for it, for good or until a time. @throws Refusal validation_error; not_found for what is no host name */
export function ignoreHost(ctx: Ctx, input: z.output<typeof IgnoreHost>) {
  const host = canonicalHost(input.host);
  if (host === undefined) throw notFound();
  const until = input.until === undefined ? null : new Date(input.until);
  if (until !== null && until <= ctx.now) throw invalid('until', 'must be in the future');
  return mutate(ctx, async (tx) => {
    const key = { ...own(ctx), host };
    await tx.egress_ignored_hosts.upsert({
      where: { tenant_id_sandbox_host: key },
      create: { ...key, until, created_at: ctx.now },
      update: { until },
    });
    const hidden = await tx.opportunities.updateManyAndReturn({
      where: { ...own(ctx), destination_host: host, status: { in: ['pending', 'snoozed'] } },
      data: {
        status: 'dismissed',
        dismiss_reason: 'The host is ignored.',
        snoozed_until: null,
        snoozed_calls: null,
        acted_at: ctx.now,
        updated_at: ctx.now,
      },
      select: { id: true },
    });
    return audited(
      { host, until },
      {
        action: 'update',
        resource_type: 'egress_host',
        resource_id: null,
        name: host,
        details: { ignored: true, until: until?.toISOString() ?? null },
      },
      hidden.map(({ id }) => ({
        action: 'dismiss',
        resource_type: 'opportunity',
        resource_id: id,
        name: host,
        details: { reason: 'The host is ignored.' },
      })),
    );
  });
}

/** Ends an ignore before its time. What was dismissed with it stays so until it is reopened. @throws Refusal not_found for a host that isn't ignored */
export const showHost = (ctx: Ctx, input: z.output<typeof ObservedHostRef>) =>
  mutate(ctx, async (tx) => {
    const host = canonicalHost(input.host) ?? '';
    const { count } = await tx.egress_ignored_hosts.deleteMany({
      where: { ...own(ctx), host, OR: [{ until: null }, { until: { gt: ctx.now } }] },
    });
    if (count === 0) throw notFound();
    return audited(
      { host, ignored: false as const },
      { action: 'update', resource_type: 'egress_host', resource_id: null, name: host, details: { ignored: false } },
    );
  });

const KEPT = '90 days';

/** Forgets what was not seen for 90 days, and hosts whose time of being ignored is over. */
export async function pruneObservations(now: Date): Promise<number> {
  const seen = await sql().query(`delete from egress_observations where last_seen < $1::timestamptz - interval '${KEPT}'`, [now]);
  const ignored = await sql().query('delete from egress_ignored_hosts where until <= $1', [now]);
  return (seen.rowCount ?? 0) + (ignored.rowCount ?? 0);
}
