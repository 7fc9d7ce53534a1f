import { raise } from '#server/domain/events/service.ts';
import { postTeamMails } from '#server/domain/mail/service.ts';
import { secretsEnding } from '#server/domain/mail/templates.ts';
import { spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseOutcome } from '#server/kernel/lease.ts';
import { env } from '#server/platform/env.ts';

const DAY = 24 * 3_600_000;
/** Days before the expiry of a value at which it is mailed about, and the expiry itself (spec 30 §9). */
const AHEAD = [30, 7, 1, 0] as const;
/** Values named in one mail. */
const NAMED = 20;
/** A mail is forgotten this long after the end it was about, and after it was sent. */
const FORGOTTEN = { end: '3 days', mail: '2 days' };
type Ending = {
  id: string;
  secret_id: string;
  tenant_id: string;
  sandbox: boolean;
  name: string;
  secret_type: string;
  environment: string;
  ends: Date;
  strict: boolean;
  days: number;
};

/**
 * Mails Owners and Admins about values that expire within 30, 7 and 1 days and about those that have expired: each expiry once, all of a space and a
 * threshold in one mail. An expiry that was closer than a threshold when the secret was created is no news, and one of two days ago no help. A secret is
 * mailed about once a day for each threshold, however often its expiry moves: what its other environments reach within that day is in the same mail, and
 * an expiry that moved in the meantime is mailed a day later, if it is near then.
 */
export async function notifyExpiring(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const ids = due.map(({ resource_id }) => resource_id);
  const ending = await endingValues(tx, ids, now);
  const mails = Map.groupBy(ending, ({ tenant_id, sandbox, days }) => `${tenant_id} ${sandbox} ${days}`);
  for (const values of mails.values()) {
    await mail(tx, values, now);
    await raiseExpiry(tx, values, now);
  }
  await tx.$executeRaw`
    insert into secret_expiry_mails (secret_environment_id, secret_id, tenant_id, sandbox, days, ends_at, told_at)
    select v.*, ${now}::timestamptz from unnest(${ending.map((e) => e.id)}::uuid[], ${ending.map((e) => e.secret_id)}::uuid[], ${ending.map((e) => e.tenant_id)}::uuid[],
      ${ending.map((e) => e.sandbox)}::boolean[], ${ending.map((e) => e.days)}::int[], ${ending.map((e) => e.ends)}::timestamptz[]) as v
    on conflict (secret_id, days, secret_environment_id) do update set ends_at = excluded.ends_at, told_at = excluded.told_at`;
  await tx.$executeRaw`
    delete from secret_expiry_mails where secret_id = any(${ids}::uuid[]) and ends_at + ${FORGOTTEN.end}::interval <= ${now} and told_at + ${FORGOTTEN.mail}::interval <= ${now}`;
  return { next: await nextTimes(tx, ids, now), acted: ending.length };
}

/**
 * The environments' own ends, or those of their secrets, with the nearest threshold they have passed and nobody was mailed about; each due secret with all
 * its environments.
 */
const endingValues = (tx: Tx, ids: readonly string[], now: Date) => tx.$queryRaw<Ending[]>`
  with values as (
    select e.id, s.id as secret_id, e.tenant_id, e.sandbox, s.name, s.secret_type, e.environment_name as environment, s.strict_expiry_enforcement as strict, s.created_at,
      coalesce(e.expires_at_override, s.expires_at) as ends
    from secret_environments e join secrets s on s.id = e.secret_id join tenants t on t.id = e.tenant_id
    where s.id = any(${ids}::uuid[]) and e.current_value_id is not null and t.deleted_at is null
      and coalesce(e.expires_at_override, s.expires_at) between ${new Date(now.getTime() - 2 * DAY)} and ${new Date(now.getTime() + (AHEAD[0] + 1) * DAY)}),
  reached as (
    select v.*, (select min(d) from unnest(${[...AHEAD]}::int[]) as d where v.ends <= ${now}::timestamptz + d * interval '1 day') as days from values v),
  due as (
    select distinct secret_id, days from reached r
    where days is not null and ends - days * interval '1 day' > created_at
      and not exists (select from secret_expiry_mails m where m.secret_id = r.secret_id and m.secret_environment_id = r.id and m.ends_at = r.ends and m.days <= r.days)
      and not exists (select from secret_expiry_mails m where m.secret_id = r.secret_id and m.days = r.days and m.told_at > ${new Date(now.getTime() - DAY)}))
  select r.id, r.secret_id, r.tenant_id, r.sandbox, r.name, r.secret_type, r.environment, r.strict, r.ends, due.days
  from due join reached r on r.secret_id = due.secret_id
    and (r.days = due.days or (coalesce(r.days, ${AHEAD[0] + 1}) > due.days and r.ends <= ${now}::timestamptz + (due.days + 1) * interval '1 day'))
  where r.ends - due.days * interval '1 day' > r.created_at
    and not exists (select from secret_expiry_mails m where m.secret_id = r.secret_id and m.secret_environment_id = r.id and m.ends_at = r.ends and m.days <= due.days)
  order by r.ends, r.name, r.environment`;

/**
 * When each secret must be looked at next: the next threshold of any environment, a day after its last mail for what was held back until then, and when
 * its mails can be forgotten. A secret with none of these has nothing ahead.
 */
async function nextTimes(tx: Tx, ids: readonly string[], now: Date): Promise<Map<string, Date>> {
  const rows = await tx.$queryRaw<{ secret_id: string; next: Date }[]>`
    with ends as (
      select id as secret_id, expires_at as ends from secrets where id = any(${ids}::uuid[]) and expires_at is not null
      union select secret_id, expires_at_override from secret_environments where secret_id = any(${ids}::uuid[]) and expires_at_override is not null),
    times as (
      select secret_id, ends - d * interval '1 day' as next from ends, unnest(${[...AHEAD, -2]}::int[]) as d
      union all select secret_id, told_at + interval '1 day' from secret_expiry_mails where secret_id = any(${ids}::uuid[])
      union all select secret_id, greatest(ends_at + ${FORGOTTEN.end}::interval, told_at + ${FORGOTTEN.mail}::interval) from secret_expiry_mails where secret_id = any(${ids}::uuid[]))
    select secret_id, min(next) as next from times where next > ${now} group by secret_id`;
  return new Map(rows.map(({ secret_id, next }) => [secret_id, next]));
}

async function raiseExpiry(tx: Tx, values: readonly Ending[], now: Date): Promise<void> {
  const [first] = values;
  if (!first) return;
  await raise(
    tx,
    { tenant_id: first.tenant_id, sandbox: first.sandbox, now },
    values.map(({ secret_id, name, secret_type, environment, ends, days }) => ({
      type: ends <= now ? 'secret.expired' : 'secret.expiring',
      source_id: secret_id,
      data: { id: secret_id, name, secret_type, environment, expires_at: ends, ...(ends <= now ? {} : { days_left: days }) },
    })),
  );
}

async function mail(tx: Tx, values: readonly Ending[], now: Date): Promise<void> {
  const [first] = values;
  if (!first) return;
  const { tenant_id, days } = first;
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: tenant_id }, select: { name: true, slug: true } });
  const space = spaceOf(first.sandbox);
  const letter = secretsEnding(
    {
      ...{ workspace: workspace.name, space, days, now },
      secrets: new Set(values.map((value) => value.name)).size,
      values: values.slice(0, NAMED),
      more: Math.max(values.length - NAMED, 0),
    },
    `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${space}/secrets`,
  );
  await postTeamMails(tx, { tenant_id, kind: 'secret_ending', to: ['owner', 'admin'], letter, now });
}
