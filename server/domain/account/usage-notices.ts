import { raise } from '#server/domain/events/service.ts';
import { postTeamMails } from '#server/domain/mail/service.ts';
import { usageReached } from '#server/domain/mail/templates.ts';
import { type PlanName, planLimit } from '#server/domain/plans/schema.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';

/** Shares of the month's calls at which the Owners are mailed (interface rule 70 §6). */
const NOTICE_PERCENTS = [100, 90, 80] as const;

type Counter = {
  tenant_id: string;
  used: number;
  told_percent: number | null;
  told_limit: number | null;
  name: string;
  slug: string;
  plan: PlanName;
  overridden: boolean;
  override: number | null;
};

/**
 * Mails the Owners when 80, 90 and 100 % of the month's calls are used, each once a month and limit; a jump past two of them is one mail. Called by the
 * worker every ten minutes. @returns workspaces mailed
 */
export async function notifyUsage(db: Db, now: Date): Promise<number> {
  let notified = 0;
  for (const counter of await counters(db, now)) {
    const limit = counter.overridden ? counter.override : planLimit(counter.plan, 'api_calls');
    if (!limit) continue;
    const percent = NOTICE_PERCENTS.find((share) => counter.used >= (limit * share) / 100);
    if (percent === undefined || (counter.told_limit === limit && (counter.told_percent ?? 0) >= percent)) continue;
    if (await db.$transaction((tx) => notify(tx, counter, { limit, percent }, now))) notified++;
  }
  return notified;
}

/** This month's counters that may have reached a share: those below the first share of the smallest plan are left out. */
const counters = (db: Db, now: Date) => db.$queryRaw<Counter[]>`
  select u.tenant_id, u.n::float8 as used, u.told_percent, u.told_limit::float8 as told_limit, t.name, t.slug, t.subscription_plan as plan,
    o.tenant_id is not null as overridden, o.value as override
  from usage_counters u join tenants t on t.id = u.tenant_id and t.deleted_at is null
    left join tenant_limit_overrides o on o.tenant_id = u.tenant_id and o.kind = u.kind and (o.expires_at is null or o.expires_at > ${now})
  where u.kind = 'api_calls' and u.year = ${now.getUTCFullYear()} and u.month = ${now.getUTCMonth() + 1}
    and (o.tenant_id is not null or u.n >= ${((planLimit('free', 'api_calls') ?? 0) * (NOTICE_PERCENTS.at(-1) ?? 0)) / 100})`;

/** False if another worker was faster. */
async function notify(tx: Tx, counter: Counter, { limit, percent }: { limit: number; percent: number }, now: Date): Promise<boolean> {
  const { tenant_id, told_percent, told_limit, used, name: workspace, slug, plan } = counter;
  const { count } = await tx.usage_counters.updateMany({
    where: { tenant_id, kind: 'api_calls', year: now.getUTCFullYear(), month: now.getUTCMonth() + 1, told_percent, told_limit },
    data: { told_percent: percent, told_limit: limit },
  });
  if (count === 0) return false;
  const resets = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  const letter = usageReached({ workspace, percent, used, limit, plan, resets }, `${env.PUBLIC_ADMIN_URL}/${slug}/settings/usage`);
  await postTeamMails(tx, { tenant_id, kind: 'usage', letter, now });
  const data = { percent, used, limit, period: now.toISOString().slice(0, 7) };
  await raise(tx, { tenant_id, sandbox: false, now }, [{ type: 'usage.threshold_reached', source_id: null, data }]);
  return true;
}
