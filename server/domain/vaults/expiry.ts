import { raise } from '#server/domain/events/service.ts';
import type { Db } from '#server/kernel/database.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';

type Swept = { tenant_id: string; sandbox: boolean; vault_id: string; vault: string; count: number };

/**
 * Erases tokens that expired more than an hour ago, and audits how many of each vault. Batches keep locks short; rows that somebody holds are left for
 * the next run. @returns tokens erased
 */
export async function sweepExpired(db: Db, now: Date, batch = 1_000): Promise<number> {
  for (let total = 0; ; ) {
    const swept = await db.$transaction(async (tx) => {
      const groups = await tx.$queryRaw<Swept[]>`
        with due as (
          select id from vault_tokens where deleted_at is null and expires_at < ${now}::timestamptz - interval '1 hour'
          order by expires_at limit ${batch} for update skip locked),
        swept as (
          update vault_tokens t set wrapped_value = null, value_hmac = null, metadata = null, deleted_at = ${now} from due where t.id = due.id
          returning t.tenant_id, t.sandbox, t.vault_id)
        select s.tenant_id::text, s.sandbox, s.vault_id::text, v.name as vault, count(*)::int as count
        from swept s join vaults v on v.id = s.vault_id where v.deleted_at is null group by 1, 2, 3, 4`;
      for (const { tenant_id, sandbox, vault_id, vault, count } of groups)
        await writeAudit(tx, systemContext(db, { tenant_id, sandbox, now, label: 'token expiry' }), {
          action: 'delete',
          resource_type: 'vault_token',
          resource_id: null,
          details: { vault, vault_id, count, reason: 'expired' },
        });
      return groups.reduce((sum, { count }) => sum + count, 0);
    });
    total += swept;
    if (swept < batch) return total;
  }
}

/** Days before the end of a card's expiry month at which an event says so. */
const NOTICES = [60, 30] as const;
/** Days a notice may come late, when no worker ran at its time. */
const LATE_DAYS = 7;

type Notice = {
  token_id: string;
  tenant_id: string;
  sandbox: boolean;
  token: string;
  vault_id: string;
  vault_name: string;
  card_expires_on: string;
};

/**
 * Raises `vault.token.expiring` for cards that end in 60 or 30 days: once for each token and notice, also when two workers run. A token that was made
 * after that day is no news. @returns notices given
 */
export async function noticeExpiringCards(db: Db, now: Date, batch = 1_000): Promise<number> {
  let given = 0;
  for (const days of NOTICES)
    for (;;) {
      const notices = await db.$transaction((tx) => noticeBatch(tx, days, now, batch));
      given += notices;
      if (notices < batch) break;
    }
  return given;
}

async function noticeBatch(tx: Parameters<typeof raise>[0], days: number, now: Date, batch: number): Promise<number> {
  const today = now.toISOString().slice(0, 10);
  const notices = await tx.$queryRaw<Notice[]>`
    with due as (
      select t.id, t.tenant_id, t.sandbox, t.token, t.vault_id, v.name, t.card_exp from vault_tokens t join vaults v on v.id = t.vault_id
      where t.deleted_at is null and v.deleted_at is null and (t.expires_at is null or t.expires_at > ${now})
        and t.card_exp between ${today}::date + ${days}::int - ${LATE_DAYS}::int and ${today}::date + ${days}::int
        and (t.created_at at time zone 'UTC')::date <= t.card_exp - ${days}::int
        and not exists (select from vault_card_notices n where n.token_id = t.id and n.days_before = ${days}::int)
      order by t.card_exp, t.id limit ${batch}),
    noticed as (
      insert into vault_card_notices (token_id, days_before, tenant_id, sandbox, created_at)
      select id, ${days}::int, tenant_id, sandbox, ${now}::timestamptz from due on conflict do nothing returning token_id)
    select d.id::text as token_id, d.tenant_id::text, d.sandbox, d.token, d.vault_id::text, d.name as vault_name, d.card_exp::text as card_expires_on
    from due d join noticed n on n.token_id = d.id`;
  const spaces = Map.groupBy(notices, ({ tenant_id, sandbox }) => `${tenant_id} ${sandbox}`);
  for (const [first, ...more] of spaces.values())
    if (first)
      await raise(
        tx,
        { tenant_id: first.tenant_id, sandbox: first.sandbox, now },
        [first, ...more].map(({ tenant_id: _, ...notice }) => ({
          type: 'vault.token.expiring',
          source_id: notice.token_id,
          data: { ...notice, days_before: days },
        })),
      );
  return notices.length;
}
