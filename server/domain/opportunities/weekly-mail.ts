import { dispatch, type Letter, postMail } from '#server/domain/mail/service.ts';
import { preferencesOf } from '#server/domain/people/schema.ts';
import type { Tx } from '#server/kernel/database.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { sql } from '#server/platform/sql.ts';

/** A run that is repeated, or a few hours early, mails nobody twice. */
const AT_LEAST_BETWEEN = '6 days';
const NAMED = 5;

/** Mails Owners and Admins what waits for a decision in Live (interface rule 34 §5.6), unless they turned it off. @returns mails written */
export async function mailWeekly(now: Date): Promise<number> {
  const { rows } = await sql().query<{ tenant_id: string }>(
    `select distinct o.tenant_id from opportunities o join tenants t on t.id = o.tenant_id
     where o.status = 'pending' and not o.sandbox and t.deleted_at is null`,
  );
  let mails = 0;
  for (const { tenant_id } of rows) {
    const ids = await db().$transaction((tx) => mailTeam(tx, tenant_id, now));
    for (const id of ids) dispatch(db(), id);
    mails += ids.length;
  }
  return mails;
}

/** The mark and the mails are written together, by one of several workers. */
async function mailTeam(tx: Tx, tenant_id: string, now: Date): Promise<string[]> {
  const marked = await tx.$executeRaw`
    insert into opportunity_watermarks as w (tenant_id, sandbox, read_until, refreshed_at, mailed_at)
    values (${tenant_id}::uuid, false, 'epoch', 'epoch', ${now})
    on conflict (tenant_id, sandbox) do update set mailed_at = excluded.mailed_at
    where w.mailed_at is null or w.mailed_at < ${now}::timestamptz - ${AT_LEAST_BETWEEN}::interval`;
  if (marked === 0) return [];
  const where = { tenant_id, sandbox: false, status: 'pending' };
  const pending = await tx.opportunities.count({ where });
  if (pending === 0) return [];
  const first = await tx.opportunities.findMany({ where, orderBy: [{ confidence: 'desc' }, { id: 'asc' }], take: NAMED });
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: tenant_id }, select: { name: true, slug: true } });
  const people = await tx.$queryRaw<{ email: string; preferences: unknown }[]>`
    select u.email, u.preferences from memberships m join users u on u.id = m.user_id
    where m.tenant_id = ${tenant_id}::uuid and m.role in ('owner', 'admin') and m.removed_at is null and u.disabled_at is null`;
  const letter = weeklySummary({ workspace, pending, hosts: first.map(({ destination_host }) => destination_host) });
  const wanting = people.filter(({ preferences }) => preferencesOf(preferences).opportunity_mails);
  return Promise.all(wanting.map(({ email }) => postMail(tx, { to: email, kind: 'opportunity_summary', letter, now })));
}

function weeklySummary(facts: { workspace: { name: string; slug: string }; pending: number; hosts: readonly string[] }): Letter {
  const { workspace, pending, hosts } = facts;
  const others = pending - hosts.length;
  return {
    subject: `${pending === 1 ? '1 host waits' : `${pending} hosts wait`} for a route in ${workspace.name}`,
    paragraphs: [
      `Your applications call ${pending === 1 ? 'a host' : 'hosts'} without a route: ${hosts.join(', ')}${others > 0 ? ` and ${others} more` : ''}.`,
      'Accept one to create its route and bind a stored secret, snooze it, or dismiss it.',
    ],
    button: { label: 'Review opportunities', url: `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/live/opportunities` },
    footer: `You get this on Mondays as an Owner or Admin. Turn it off in your preferences: ${env.PUBLIC_ADMIN_URL}/me/preferences`,
  };
}
