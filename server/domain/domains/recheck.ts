import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { domainLapsed } from '#server/domain/mail/templates.ts';
import type { Db } from '#server/kernel/database.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { lookupTxt } from '#server/platform/dns-txt.ts';
import { env } from '#server/platform/env.ts';
import { entryOf, txtName, VERIFIED } from './rows.ts';

/** A little less than a day, so that an hourly job looks at each domain once a day. */
const EVERY_MS = 23.5 * 3_600_000;
const MOST_MISSES = 3;
const PER_RUN = 500;
const AT_ONCE = 10;

/**
 * Looks daily whether the records of verified and lapsed domains are still there: three days in a row without one lapse a domain, and finding it again
 * brings it back. A day on which no resolver answered counts for nothing.
 */
export async function recheckDomains(db: Db, now: Date): Promise<{ checked: number; changed: number }> {
  const due = await db.tenant_domains.findMany({
    where: {
      status: { in: ['verified', 'lapsed'] },
      OR: [{ checked_at: null }, { checked_at: { lte: new Date(now.getTime() - EVERY_MS) } }],
      tenant: { deleted_at: null },
    },
    orderBy: { checked_at: 'asc' },
    take: PER_RUN,
  });
  let changed = 0;
  for (let at = 0; at < due.length; at += AT_ONCE)
    for (const one of await Promise.all(due.slice(at, at + AT_ONCE).map((row) => recheck(db, row, now)))) if (one) changed++;
  return { checked: due.length, changed };
}

type Row = Awaited<ReturnType<Db['tenant_domains']['findMany']>>[number];

/** @returns whether its status changed */
async function recheck(db: Db, row: Row, now: Date): Promise<boolean> {
  const answers = await lookupTxt(txtName(row.domain));
  const found = answers.some(({ values }) => values.includes(row.txt_value));
  const missed = !found && answers.some(({ reached }) => reached);
  const misses = found ? 0 : row.misses + (missed ? 1 : 0);
  const status = found ? 'verified' : misses >= MOST_MISSES ? 'lapsed' : row.status;
  const mails = await db.$transaction(async (tx) => {
    // A check or change that came in between wins.
    const { count } = await tx.tenant_domains.updateMany({
      where: { id: row.id, checked_at: row.checked_at, status: row.status },
      data: { ...(found ? VERIFIED : { status, misses }), checked_at: now, ...(status === row.status ? {} : { updated_at: now }) },
    });
    if (count === 0 || status === row.status) return null;
    const ctx = systemContext(db, { tenant_id: row.tenant_id, now, label: 'domain check' });
    await writeAudit(tx, ctx, { action: 'update', ...entryOf(row), details: { state: status } });
    if (status !== 'lapsed') return [];
    const { name, slug } = await tx.tenants.findUniqueOrThrow({ where: { id: row.tenant_id }, select: { name: true, slug: true } });
    const letter = domainLapsed(
      { ...row, txt_name: txtName(row.domain), workspace: name },
      `${env.PUBLIC_ADMIN_URL}/${slug}/settings/domains`,
    );
    return postTeamMails(tx, { tenant_id: row.tenant_id, kind: 'domain_lapsed', letter, now });
  });
  for (const id of mails ?? []) dispatch(db, id);
  return mails !== null;
}
