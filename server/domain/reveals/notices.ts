import { postTeamMails } from '#server/domain/mail/service.ts';
import { manyReveals } from '#server/domain/mail/templates.ts';
import type { Db } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';

/** More reveals of one person in one workspace within an hour than this are mailed about (interface rule 32 §7). */
const MANY = 30;

type Busy = { tenant_id: string; user_id: string; n: number; person: string; workspace: string; slug: string };

/**
 * Mails Owners about people who revealed more than 30 values of their workspace in the last hour, once an hour for each person. The notice and its mails
 * commit together, so that neither an overlap nor a restart mails twice. @returns how many people were mailed about
 */
export async function notifyManyReveals(db: Db, now: Date): Promise<number> {
  return db.$transaction(async (tx) => {
    const busy = await tx.$queryRaw<Busy[]>`
      with counted as (
        select tenant_id, user_id, count(*)::int as n from reveal_ledger
        where at > ${now}::timestamptz - interval '1 hour' and at <= ${now}::timestamptz group by 1, 2 having count(*) > ${MANY}),
      due as (
        insert into reveal_notices as r (tenant_id, user_id, told_at) select tenant_id, user_id, ${now}::timestamptz from counted
        on conflict (tenant_id, user_id) do update set told_at = excluded.told_at where r.told_at <= excluded.told_at - interval '1 hour'
        returning tenant_id, user_id)
      select c.*, coalesce(nullif(u.full_name, ''), u.email, 'A former member') as person, t.name as workspace, t.slug
      from due join counted c using (tenant_id, user_id) join tenants t on t.id = c.tenant_id left join users u on u.id = c.user_id
      where t.deleted_at is null`;
    for (const { tenant_id, user_id, n, person, workspace, slug } of busy) {
      const letter = manyReveals({ workspace, person, n }, `${env.PUBLIC_ADMIN_URL}/${slug}/settings/reveals?person=${user_id}`);
      await postTeamMails(tx, { tenant_id, kind: 'many_reveals', to: ['owner'], letter, now });
    }
    return busy.length;
  });
}
