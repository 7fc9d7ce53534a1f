import { raise } from '#server/domain/events/service.ts';
import { routeSlugFrom } from '#server/domain/routes/schema.ts';
import { hostAllowed } from '#server/domain/secrets/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { canonicalHost, isOwnHost } from '#server/kernel/upstream-url.ts';
import { db } from '#server/platform/db.ts';
import { egress } from '#server/platform/egress.ts';
import { sql } from '#server/platform/sql.ts';
import { confidenceOf } from './confidence.ts';
import { coveringRoutes } from './coverage.ts';
import { type Seen, seenByMonitors, seenInTraffic } from './evidence.ts';
import { serviceOf } from './known-services.ts';
import type { Evidence, SOURCES, SuggestedRoute } from './schema.ts';
import { readTraffic } from './traffic.ts';

/** Between two readings of one space's log on behalf of lists. */
const REFRESH_MS = 60_000;
/** Suggestions of one space that one run writes, the busiest first. */
const MOST = 1_000;
/** From here on a new suggestion is worth an event. */
const CERTAIN = 0.7;

/** How collections of accepted suggestions are called. */
export const COLLECTION = 'Wrapped APIs';

type Candidate = Seen & { source: (typeof SOURCES)[number]; confidence: number; suggestion: SuggestedRoute };

/**
 * Brings the suggestions of a space up to date (interface rule 34 §5.4): reads the calls since the last time, and writes what they add up to. Two processes
 * never do it at once, and neither waits for the other. @returns new suggestions
 */
export function refreshOpportunities(ctx: Ctx, { atMostEvery = REFRESH_MS }: { atMostEvery?: number } = {}): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const [lock] = await tx.$queryRaw<{ taken: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtextextended(${`${ctx.tenant_id}:${ctx.sandbox}:opportunities`}, 0)) as taken`;
    if (!lock?.taken) return 0;
    const mark = await tx.opportunity_watermarks.findFirst({ where: own(ctx) });
    if (mark && ctx.now.getTime() - mark.refreshed_at.getTime() < atMostEvery) return 0;
    const read_until = await readTraffic(tx, ctx, mark?.read_until ?? null);
    await tx.opportunity_watermarks.upsert({
      where: { tenant_id_sandbox: own(ctx) },
      create: { ...own(ctx), read_until, refreshed_at: ctx.now },
      update: { read_until, refreshed_at: ctx.now },
    });
    return store(tx, ctx, await candidates(tx, ctx));
  });
}

async function candidates(tx: Tx, ctx: Ctx): Promise<Candidate[]> {
  const seen = [
    ...(await seenInTraffic(tx, ctx)).map((one) => ({ ...one, source: 'gateway_traffic' as const })),
    ...(await seenByMonitors(tx, ctx)).map((one) => ({ ...one, source: 'agent_monitor' as const })),
  ];
  if (seen.length === 0) return [];
  const [covered, excluded, escrows] = [await coveringRoutes(tx, ctx), await excludedHosts(tx, ctx), await escrowedHosts(tx, ctx)];
  const environment = await tx.environments.findFirstOrThrow({ where: { ...own(ctx), is_default: true }, select: { name: true } });
  const own_hosts = egress().settings.ownHosts;
  return seen
    .filter(({ host }) => canonicalHost(host) === host && host.includes('.') && !isOwnHost(host, 443, own_hosts))
    .filter(({ host }) => !covered.has(host) && !excluded.has(host))
    .sort((a, b) => b.evidence.calls_30d - a.evidence.calls_30d)
    .slice(0, MOST)
    .map((one) => {
      const { calls_30d, days_seen, credential_modes } = one.evidence;
      const escrow = escrows.find(({ hosts }) => hostAllowed(hosts, one.host));
      const observed = credential_modes.direct_header[0];
      const confidence = confidenceOf({
        calls_30d,
        days_seen,
        has_escrow: escrow !== undefined,
        has_credential_header: observed !== undefined || credential_modes.transit > 0 || credential_modes.escrow > 0,
      });
      const service = serviceOf(one.host, observed);
      return { ...one, confidence, suggestion: suggestionFor(one.host, environment.name, { ...service, ...escrow?.placement }) };
    });
}

function suggestionFor(host: string, environment: string, service: ReturnType<typeof serviceOf>): SuggestedRoute {
  return {
    name: service.name,
    slug: routeSlugFrom(service.name),
    target_base_url: `https://${host}`,
    environment,
    collection_name: COLLECTION,
    header_name: service.header_name,
    value_prefix: service.value_prefix,
    allowed_methods: null,
    intercept_enabled: true,
  };
}

/** Hosts that are ignored, and those whose suggestion became a route that still exists. */
async function excludedHosts(tx: Tx, ctx: Ctx): Promise<ReadonlySet<string>> {
  const rows = await tx.$queryRaw<{ host: string }[]>`
    select host from egress_ignored_hosts where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and (until is null or until > ${ctx.now})
    union select o.destination_host from opportunities o join routes r on r.id = o.accepted_route_id and r.tenant_id = o.tenant_id
    where o.tenant_id = ${ctx.tenant_id}::uuid and o.sandbox = ${ctx.sandbox} and o.status = 'onboarded'`;
  return new Set(rows.map(({ host }) => host));
}

export type Escrow = {
  id: string;
  hosts: string[];
  /** Where its value goes, as far as it says so itself. */
  placement: { header_name?: string; value_prefix?: string };
};

/** Credentials held in escrow with the hosts they may go to, the most recently used first. With `environment` only those that have a value there. */
export async function escrowedHosts(tx: Tx, ctx: Ctx, environment?: string): Promise<Escrow[]> {
  const rows = await tx.$queryRaw<{ id: string; hosts: unknown; header_name: string | null; value_prefix: string | null }[]>`
    select s.id::text, s.allowed_hosts as hosts, to_jsonb(s)->>'header_name' as header_name, to_jsonb(s)->>'value_prefix' as value_prefix
    from secrets s
    where s.tenant_id = ${ctx.tenant_id}::uuid and s.sandbox = ${ctx.sandbox} and s.is_escrow and s.allowed_hosts is not null
      and (${environment ?? null}::text is null or exists (select from secret_environments e
        where e.secret_id = s.id and e.environment_name = ${environment ?? ''} and e.current_value_id is not null))
    order by (select max(d.last_at) from call_days d
      where d.tenant_id = s.tenant_id and d.sandbox = s.sandbox and d.kind = 'secret' and d.ref_id = s.id) desc nulls last, s.created_at desc, s.id`;
  return rows.map(({ id, hosts, header_name, value_prefix }) => ({
    id,
    hosts: Array.isArray(hosts) ? hosts.filter((host) => typeof host === 'string') : [],
    placement: { ...(header_name === null ? {} : { header_name }), ...(value_prefix === null ? {} : { value_prefix }) },
  }));
}

/** Writes what is new, brings up to date what is pending, and wakes what was snoozed while its calls were a third of today's. Decided ones stay as they are. */
async function store(tx: Tx, ctx: Ctx, found: readonly Candidate[]): Promise<number> {
  if (found.length === 0) return 0;
  const rows = found.map(({ source, host, suggestion, evidence, confidence }) => ({
    ...{ id: newId(), source, service: suggestion.name, host, confidence, calls: evidence.calls_30d },
    ...{ suggestion: suggestion as Prisma.InputJsonObject, evidence: evidence as Evidence as Prisma.InputJsonObject },
  }));
  await tx.$executeRaw`
    update opportunities o set status = 'pending', snoozed_until = null, snoozed_calls = null, acted_at = null, updated_at = ${ctx.now}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(source text, host text, calls bigint)
    where o.tenant_id = ${ctx.tenant_id}::uuid and o.sandbox = ${ctx.sandbox} and o.source = r.source and o.destination_host = r.host and o.status = 'snoozed'
      and r.calls >= 3 * greatest(o.snoozed_calls, 1)`;
  const written = await tx.$queryRaw<{ id: string; host: string; source: string; service: string; confidence: number; is_new: boolean }[]>`
    insert into opportunities as o (id, tenant_id, sandbox, source, service, destination_host, confidence, suggested_route_json, evidence_json, created_at, updated_at)
    select r.id, ${ctx.tenant_id}::uuid, ${ctx.sandbox}, r.source, r.service, r.host, r.confidence, r.suggestion, r.evidence, ${ctx.now}, ${ctx.now}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r(id uuid, source text, service text, host text, confidence float8, suggestion jsonb, evidence jsonb)
    order by r.host, r.source
    on conflict (tenant_id, sandbox, destination_host, source) where status <> 'onboarded' do update set
      service = excluded.service, confidence = excluded.confidence, suggested_route_json = excluded.suggested_route_json,
      evidence_json = excluded.evidence_json, updated_at = excluded.updated_at
    where o.status = 'pending' and (o.confidence, o.suggested_route_json, o.evidence_json)
      is distinct from (excluded.confidence, excluded.suggested_route_json, excluded.evidence_json)
    returning o.id::text, o.destination_host as host, o.source, o.service, o.confidence, o.xmax = 0 as is_new`;
  const made = written.filter(({ is_new }) => is_new);
  await raise(
    tx,
    ctx,
    made
      .filter(({ confidence }) => confidence >= CERTAIN)
      .map(({ id, host, source, service, confidence }) => ({
        type: 'opportunity.created' as const,
        source_id: id,
        data: { opportunity_id: id, destination_host: host, service, source, confidence },
      })),
  );
  return made.length;
}

/** Refreshes every space that something was seen in during the last day. */
export async function refreshAll(now: Date): Promise<{ spaces: number; created: number }> {
  const { rows } = await sql().query<{ tenant_id: string; sandbox: boolean }>(
    `select s.tenant_id, s.sandbox from (
       select distinct tenant_id, sandbox from request_logs where proxy_mode in ('ephemeral', 'wrap_gateway') and ts > $1::timestamptz - interval '1 day'
       union select distinct tenant_id, sandbox from egress_observations where reported_at > $1::timestamptz - interval '1 day') s
     join tenants t on t.id = s.tenant_id where t.deleted_at is null`,
    [now],
  );
  let created = 0;
  for (const space of rows) created += await refreshOpportunities(systemContext(db(), { ...space, now, label: 'opportunities' }));
  return { spaces: rows.length, created };
}
