import { postTeamMails } from '#server/domain/mail/service.ts';
import { logsShrinking } from '#server/domain/mail/templates.ts';
import { type LimitKey, PLANS, type PlanName, planLimit } from '#server/domain/plans/schema.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { sql } from '#server/platform/sql.ts';

/** How many days a workspace's logs are kept; null is for ever. */
export type Windows = { tenant_id: string; log_days: number | null; audit_days: number | null };

/** Sandbox calls are kept this long on every plan (interface rule 13 §7). */
export const SANDBOX_LOG_DAYS = 7;
/** After a downgrade the old window stays this long, so that a customer can still export what would go. */
const GRACE_DAYS = 7;
const DAY = 24 * 3_600_000;

type Kept = { log: Held; audit: Held };
type Held = { days: number | null; shrinking_since?: string };
type TenantRow = {
  id: string;
  name: string;
  slug: string;
  plan: string;
  log_override: number | null;
  has_log_override: boolean;
  audit_override: number | null;
  has_audit_override: boolean;
  kept: Kept | null;
};

/**
 * The windows that count today for every workspace: an operator's override, else the plan's number (interface rule 20 §3); a smaller one counts
 * only after the grace, which starts when this first sees it.
 */
export async function retentionWindows(now: Date): Promise<Windows[]> {
  const windows: Windows[] = [];
  for (const row of await settingsAt(now, null)) {
    const days = row.wanted;
    const next: Kept = { log: held(row.kept?.log, days.log, now), audit: held(row.kept?.audit, days.audit, now) };
    if (JSON.stringify(next) !== JSON.stringify(row.kept && { log: row.kept.log, audit: row.kept.audit }))
      await remember(row, next, days, now);
    windows.push({ tenant_id: row.id, log_days: next.log.days, audit_days: next.audit.days });
  }
  return windows;
}

/** `only` narrows it to one workspace. */
const settingsAt = async (
  now: Date,
  only: string | null,
): Promise<(TenantRow & { wanted: { log: number | null; audit: number | null } })[]> => {
  const { rows } = await sql().query<TenantRow>(
    `select t.id, t.name, t.slug, t.subscription_plan as plan, l.value as log_override, l.tenant_id is not null as has_log_override, a.value as audit_override,
       a.tenant_id is not null as has_audit_override, d.value as kept
     from tenants t
     left join tenant_limit_overrides l on l.tenant_id = t.id and l.kind = 'log_retention_days' and (l.expires_at is null or l.expires_at > $1)
     left join tenant_limit_overrides a on a.tenant_id = t.id and a.kind = 'audit_retention_days' and (a.expires_at is null or a.expires_at > $1)
     left join deployment_values d on d.name = 'retention:' || t.id
     where $2::uuid is null or t.id = $2`,
    [now, only],
  );
  return rows.map((row) => {
    const plan = (key: LimitKey) => planLimit(PLANS.includes(row.plan as PlanName) ? (row.plan as PlanName) : 'free', key);
    return {
      ...row,
      wanted: {
        log: row.has_log_override ? row.log_override : plan('log_retention_days'),
        audit: row.has_audit_override ? row.audit_override : plan('audit_retention_days'),
      },
    };
  });
};

/** Growing counts at once; shrinking after the grace. */
export function held(before: Held | undefined, wanted: number | null, now: Date): Held {
  if (!before || length(wanted) >= length(before.days)) return { days: wanted };
  const since = before.shrinking_since ?? now.toISOString();
  return now.getTime() - Date.parse(since) >= GRACE_DAYS * DAY ? { days: wanted } : { days: before.days, shrinking_since: since };
}

/** A window that is about to become smaller: days now, days from `ends` on. */
export type Shrinking = { kind: 'log' | 'audit'; days: number | null; days_then: number; ends: string };

/** What a smaller plan will take from a workspace's logs, while it can still be exported (interface rules 13 §7, 61 §5); empty outside the grace. */
export async function shrinkingWindows(tenantId: string, now: Date): Promise<Shrinking[]> {
  const [row] = await settingsAt(now, tenantId);
  return (['log', 'audit'] as const).flatMap((kind) => {
    const before = row?.kept?.[kind];
    const then = row?.wanted[kind];
    if (!before?.shrinking_since || typeof then !== 'number' || length(then) >= length(before.days)) return [];
    const ends = Date.parse(before.shrinking_since) + GRACE_DAYS * DAY;
    return ends > now.getTime() ? [{ kind, days: before.days, days_then: then, ends: new Date(ends).toISOString() }] : [];
  });
}

const length = (days: number | null) => days ?? Number.POSITIVE_INFINITY;

/** Stores the windows, and mails the Owners when one of them begins to shrink (interface rules 13 §7, 61 §5): both or neither, by one of several workers. */
const remember = (row: TenantRow, kept: Kept, days: { log: number | null; audit: number | null }, now: Date) =>
  db().$transaction(async (tx) => {
    const value = JSON.stringify(kept);
    const written = await tx.$executeRaw`insert into deployment_values (name, value) values (${`retention:${row.id}`}, ${value}::jsonb)
      on conflict (name) do update set value = excluded.value, updated_at = now() where deployment_values.value is distinct from excluded.value`;
    const begins = (key: keyof Kept) => kept[key].shrinking_since !== undefined && row.kept?.[key].shrinking_since === undefined;
    if (written === 0 || !(begins('log') || begins('audit'))) return;
    const words = (key: keyof Kept) => (begins(key) ? `${kept[key].days ?? 'all'} days until now, ${days[key]} days from then on` : null);
    const letter = logsShrinking(
      { workspace: row.name, ends: new Date(now.getTime() + GRACE_DAYS * DAY), logs: words('log'), audit: words('audit') },
      `${env.PUBLIC_ADMIN_URL}/${row.slug}/live/logs`,
    );
    await postTeamMails(tx, { tenant_id: row.id, kind: 'logs_shrinking', letter, now });
  });

/** The end of a window of so many days: what is older goes. Whole minutes, because rollups are. */
export const windowEnd = (now: Date, days: number): Date => new Date(Math.floor((now.getTime() - days * DAY) / 60_000) * 60_000);

/** Stored answers of idempotent calls act for 24 hours (interface rule 01 §7); abandoned claims go with them. @returns rows removed */
export async function pruneIdempotency(now: Date, batch = 5_000): Promise<number> {
  const before = new Date(now.getTime() - DAY);
  for (let removed = 0; ; ) {
    const { rowCount } = await sql().query(
      `delete from idempotency_keys where id in (select id from idempotency_keys where completed_at < $1 or (state = 'in_progress' and lease_until < $1) limit ${batch} for update skip locked)`,
      [before],
    );
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < batch) return removed;
  }
}
