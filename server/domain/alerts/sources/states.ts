import { type PlanName, planLimit } from '#server/domain/plans/schema.ts';
import { sql } from '#server/platform/sql.ts';
import type { AlertType } from '../conditions.shared.ts';
import type { Findings, Group, Watched } from '../watched.ts';

// Alerts on how things are: each type reads its own tables once, for all alerts of the type.

type Row = { i: number; key: string; subject: string | null; value: number };
type Reader = (alerts: readonly Watched[], now: Date) => Promise<Row[]>;

/** Values of types that count down: the fewer, the nearer. All others hold from their threshold up. */
export async function readStates(type: AlertType, alerts: readonly Watched[], now: Date): Promise<Findings> {
  const rows = alerts.length === 0 ? [] : await (READERS[type] as Reader)(alerts, now);
  const found = Map.groupBy(rows, ({ i }) => i);
  return new Map(
    alerts.map(({ id }, i) => [
      id,
      { groups: (found.get(i) ?? []).map(({ key, subject, value }): Group => ({ key, subject, value, holds: true })), data: true },
    ]),
  );
}

const asked = (alerts: readonly Watched[]): string =>
  JSON.stringify(alerts.map(({ id, tenant_id, sandbox, condition }, i) => ({ i, id, tenant_id, sandbox, ...condition })));
const W = `jsonb_to_recordset($1::jsonb) as w(i int, id uuid, tenant_id uuid, sandbox boolean, days int, minutes int, percent int, threshold int, window_minutes int)`;

/** @returns what holds; `$2` is now. */
const reading =
  (text: string): Reader =>
  async (alerts, now) =>
    (await sql().query<Row>(text, [asked(alerts), now])).rows;

/** At most so many things of one alert are told apart. */
const MOST = 100;

const READERS: Partial<Record<AlertType, Reader>> = {
  // The nearest end of any of its values; the days left, negative when it is over. What ended a month ago is nobody's news.
  secret_expiring: reading(`
    select w.i, s.* from ${W} cross join lateral (
      select s.id::text as key, s.name as subject, floor(extract(epoch from min(coalesce(e.expires_at_override, s.expires_at)) - $2::timestamptz) / 86400)::float8 as value
      from secrets s join secret_environments e on e.secret_id = s.id
      where s.tenant_id = w.tenant_id and s.sandbox = w.sandbox and e.current_value_id is not null
        and coalesce(e.expires_at_override, s.expires_at) between $2::timestamptz - interval '30 days' and $2::timestamptz + w.days * interval '1 day'
      group by s.id, s.name order by value limit ${MOST}) s`),
  // Leaves without a newer one of the same subject, and certificates of the authorities themselves.
  certificate_expiring: reading(`
    select w.i, c.* from ${W} cross join lateral (
      select key, subject, floor(extract(epoch from ends - $2::timestamptz) / 86400)::float8 as value from (
        select c.id::text as key, c.subject, c.not_after as ends from pki_certificates c
        where c.tenant_id = w.tenant_id and c.sandbox = w.sandbox and c.revoked_at is null
          and c.not_after > $2 and c.not_after <= $2::timestamptz + w.days * interval '1 day' and c.not_after - w.days * interval '1 day' > c.created_at
          and not exists (select from pki_certificates n where n.ca_root_id = c.ca_root_id and n.not_after > c.not_after and n.revoked_at is null
            and n.subject = c.subject and n.san_dns = c.san_dns and n.san_ip = c.san_ip)
        union all
        select r.id::text, r.subject, r.not_after from pki_roots r where r.tenant_id = w.tenant_id and r.sandbox = w.sandbox and r.status <> 'revoked'
          and r.not_after > $2 and r.not_after <= $2::timestamptz + w.days * interval '1 day') e
      order by ends limit ${MOST}) c`),
  webhook_failing: reading(`
    select w.i, h.id::text as key, h.name as subject, greatest(h.consecutive_failures, 1)::float8 as value
    from ${W} join webhooks h on h.tenant_id = w.tenant_id and h.sandbox = w.sandbox
    where (h.enabled and h.failing_since <= $2) or h.disabled_reason in ('failing', 'gone')`),
  // An agent whose last word is that it went offline, so long ago. One that was revoked says no more, and is not missed.
  agent_offline: reading(`
    select w.i, s.key, s.subject, s.value from ${W} cross join lateral (
      select distinct on (subject_id) subject_id as key, subject_name as subject, type, floor(extract(epoch from $2::timestamptz - occurred_at) / 60)::float8 as value
      from alert_signals where alert_id = w.id and type in ('agent.online', 'agent.offline') order by subject_id, occurred_at desc) s
    where s.type = 'agent.offline' and s.value >= w.minutes
      and not exists (select from agents a where a.agent_id = s.key and a.tenant_id = w.tenant_id and a.status = 'revoked')`),
  workflow_failed: reading(`
    select w.i, s.subject_id as key, max(s.subject_name) as subject, count(*)::float8 as value from ${W}
    join alert_signals s on s.alert_id = w.id and s.type = 'workflow.execution.failed'
      and s.occurred_at > $2::timestamptz - w.window_minutes * interval '1 minute' and s.occurred_at <= $2
    group by 1, 2, w.threshold having count(*) >= w.threshold`),
  // Spent of today's and of this month's budget of each gateway and agent; a boost that still holds counts.
  ai_budget: reading(`
    with budgets as (
      select tenant_id, sandbox, id, name, 'gateway' as kind, budget_daily_usd as daily, budget_monthly_usd as monthly, budget_boost as boost, status from ai_gateways
      union all select tenant_id, sandbox, id, name, 'agent', budget_daily_usd, budget_monthly_usd, budget_boost, status from ai_agents)
    select w.i, b.id || ' ' || p.period as key, b.name || case p.period when 'day' then ' (today)' else ' (this month)' end as subject,
      round(c.spent_nano / 1e9 / nullif(cap.usd, 0) * 100, 1)::float8 as value
    from ${W} join budgets b on b.tenant_id = w.tenant_id and b.sandbox = w.sandbox and b.status <> 'archived'
      cross join lateral (values ('day', b.daily), ('month', b.monthly)) as p(period, cap)
      cross join lateral (select p.cap + case when (b.boost ->> 'until')::timestamptz > $2 then (b.boost ->> 'amount')::numeric else 0 end as usd) cap
      join ai_spend_counters c on c.tenant_id = b.tenant_id and c.sandbox = b.sandbox and c.subject_type = b.kind and c.subject_id = b.id::text and c.period = p.period
        and c.period_start = date_trunc(p.period, $2::timestamptz at time zone 'UTC') at time zone 'UTC'
    where p.cap is not null and c.spent_nano / 1e9 >= cap.usd * w.percent / 100`),
  usage_threshold: usedCalls,
};

/** Calls of this month, of what the plan or an operator allows. They are counted for Live. */
async function usedCalls(alerts: readonly Watched[], now: Date): Promise<Row[]> {
  const { rows } = await sql().query<{ tenant_id: string; used: number; plan: PlanName; overridden: boolean; override: number | null }>(
    `select u.tenant_id, u.n::float8 as used, t.subscription_plan as plan, o.tenant_id is not null as overridden, o.value::float8 as override
     from usage_counters u join tenants t on t.id = u.tenant_id
       left join tenant_limit_overrides o on o.tenant_id = u.tenant_id and o.kind = u.kind and (o.expires_at is null or o.expires_at > $2)
     where u.kind = 'api_calls' and u.tenant_id = any($1::uuid[]) and u.year = $3 and u.month = $4`,
    [[...new Set(alerts.map(({ tenant_id }) => tenant_id))], now, now.getUTCFullYear(), now.getUTCMonth() + 1],
  );
  const used = new Map(rows.map((row) => [row.tenant_id, row]));
  return alerts.flatMap(({ tenant_id, sandbox, condition }, i) => {
    const row = used.get(tenant_id);
    const limit = row && (row.overridden ? row.override : planLimit(row.plan, 'api_calls'));
    if (sandbox || !row || !limit) return [];
    const value = Math.floor((row.used / limit) * 1_000) / 10;
    return value >= (condition.percent ?? 100) ? [{ i, key: '', subject: "The month's calls", value }] : [];
  });
}
