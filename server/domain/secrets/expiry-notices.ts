import { postTeamMails } from '#server/domain/mail/service.ts';
import { secretsEnding } from '#server/domain/mail/templates.ts';
import { spaceOf } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';

const DAY = 24 * 3_600_000;
/** Days ahead of the end of a value at which it is mailed about, and the end itself (interface rule 30 §9). */
const AHEAD = [30, 7, 1, 0] as const;
/** Values named in one mail. */
const NAMED = 20;
/** Secrets of one transaction. */
const BATCH = 2_000;

type Ending = {
  id: string;
  secret_id: string;
  tenant_id: string;
  sandbox: boolean;
  name: string;
  environment: string;
  ends: Date;
  strict: boolean;
  days: number;
};

/**
 * Mails Owners and Admins about values that end within 30, 7 and 1 days and about those that have, each end once, all of a space and a threshold in one
 * mail; called by the worker each hour. An end that was closer than a threshold when the secret was made is no news, and one of yesterday's yesterday no
 * help. A secret is mailed about once a day for each threshold, however often its end moves: what its other environments reach within that day is told of
 * ahead, and an end that has moved meanwhile a day later, if it is near then. Goes on until all are told of: whoever moves the ends of thousands must not
 * push aside everybody else's. @returns values told of
 */
export async function notifyExpiringSecrets(db: Db, now: Date, most = BATCH): Promise<number> {
  for (let told = 0; ; ) {
    const { values, secrets } = await notifyBatch(db, now, most);
    told += values;
    if (secrets < most) return told;
  }
}

const notifyBatch = (db: Db, now: Date, most: number): Promise<{ values: number; secrets: number }> =>
  db.$transaction(
    async (tx) => {
      const ending = await endingValues(tx, now, most);
      const mails = Map.groupBy(ending, ({ tenant_id, sandbox, days }) => `${tenant_id} ${sandbox} ${days}`);
      for (const values of mails.values()) await mail(tx, values, now);
      for (const { id, secret_id, tenant_id, sandbox, ends, days } of ending) {
        const told = { ends_at: ends, told_at: now };
        await tx.secret_expiry_mails.upsert({
          where: { secret_id_days_secret_environment_id: { secret_id, days, secret_environment_id: id }, tenant_id, sandbox },
          create: { secret_environment_id: id, secret_id, tenant_id, sandbox, days, ...told },
          update: told,
        });
      }
      await tx.$executeRaw`
        delete from secret_expiry_mails where ends_at < ${new Date(now.getTime() - 3 * DAY)} and told_at < ${new Date(now.getTime() - 2 * DAY)}`;
      return { values: ending.length, secrets: new Set(ending.map(({ secret_id, days }) => `${secret_id} ${days}`)).size };
    },
    { timeout: 60_000 },
  );

/**
 * The environments' own ends, or those of their secrets, with the nearest threshold they have passed and nobody was told of; of at most so many secrets
 * and thresholds, each with all its environments.
 */
const endingValues = (tx: Tx, now: Date, most: number) => tx.$queryRaw<Ending[]>`
  with values as (
    select e.id, s.id as secret_id, e.tenant_id, e.sandbox, s.name, e.environment_name as environment, s.strict_expiry_enforcement as strict, s.created_at,
      coalesce(e.expires_at_override, s.expires_at) as ends
    from secret_environments e join secrets s on s.id = e.secret_id join tenants t on t.id = e.tenant_id
    where e.current_value_id is not null and t.deleted_at is null
      and coalesce(e.expires_at_override, s.expires_at) between ${new Date(now.getTime() - 2 * DAY)} and ${new Date(now.getTime() + (AHEAD[0] + 1) * DAY)}),
  reached as (
    select v.*, (select min(d) from unnest(${[...AHEAD]}::int[]) as d where v.ends <= ${now}::timestamptz + d * interval '1 day') as days from values v),
  due as (
    select secret_id, days, min(ends) as first from reached r
    where days is not null and ends - days * interval '1 day' > created_at
      and not exists (select from secret_expiry_mails m where m.secret_id = r.secret_id and m.secret_environment_id = r.id and m.ends_at = r.ends and m.days <= r.days)
      and not exists (select from secret_expiry_mails m where m.secret_id = r.secret_id and m.days = r.days and m.told_at > ${new Date(now.getTime() - DAY)})
    group by secret_id, days order by first, secret_id limit ${most})
  select r.id, r.secret_id, r.tenant_id, r.sandbox, r.name, r.environment, r.strict, r.ends, due.days
  from due join reached r on r.secret_id = due.secret_id
    and (r.days = due.days or (coalesce(r.days, ${AHEAD[0] + 1}) > due.days and r.ends <= ${now}::timestamptz + (due.days + 1) * interval '1 day'))
  where r.ends - due.days * interval '1 day' > r.created_at
    and not exists (select from secret_expiry_mails m where m.secret_id = r.secret_id and m.secret_environment_id = r.id and m.ends_at = r.ends and m.days <= due.days)
  order by r.ends, r.name, r.environment`;

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
