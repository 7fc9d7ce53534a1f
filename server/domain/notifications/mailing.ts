import { dispatch, type Letter, postMail } from '#server/domain/mail/service.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';

const PEOPLE = 50;
/** Named in one mail; the rest is counted. */
const NAMED = 20;

type Due = { tenant_id: string; user_id: string; email: string; workspace: string; slug: string };
type Item = { id: string; space: string; title: string; body: string; link: string | null; created_at: Date };

/**
 * Mails what is due: one letter for each person and workspace, whatever came together. The letter and the mark that it was written commit together.
 * @returns letters written
 */
export async function mailDueNotifications(db: Db, now: Date): Promise<number> {
  const written = await db.$transaction(async (tx) => {
    const people = await tx.$queryRaw<Due[]>`
      select n.tenant_id, n.user_id, u.email, t.name as workspace, t.slug
      from (select distinct tenant_id, user_id from notifications where mail_at <= ${now} limit ${PEOPLE}) n
        join users u on u.id = n.user_id join tenants t on t.id = n.tenant_id`;
    const ids: string[] = [];
    for (const person of people) {
      const id = await mailTo(tx, person, now);
      if (id) ids.push(id);
    }
    return ids;
  });
  for (const id of written) dispatch(db, id);
  return written.length;
}

async function mailTo(tx: Tx, { tenant_id, user_id, email, workspace, slug }: Due, now: Date): Promise<string | undefined> {
  // Two workers at once: the second finds nothing left.
  const items = await tx.$queryRaw<Item[]>`
    update notifications set mail_at = null where id in (
      select id from notifications where tenant_id = ${tenant_id}::uuid and user_id = ${user_id}::uuid and mail_at <= ${now} for update skip locked)
    returning id, space, title, body, link, created_at`;
  const member = await tx.memberships.count({
    where: { tenant_id, user_id, removed_at: null, user: { disabled_at: null }, tenant: { deleted_at: null } },
  });
  if (items.length === 0 || member === 0) return undefined;
  items.sort((a, b) => a.created_at.getTime() - b.created_at.getTime());
  const letter = letterOf(items, workspace, `${env.PUBLIC_ADMIN_URL}/${slug}`);
  return postMail(tx, { to: email, kind: 'notification', letter, now });
}

const FOOTER = 'Choose what you are mailed about under Notifications, Preferences.';

function letterOf(items: readonly Item[], workspace: string, base: string): Letter {
  const [only] = items;
  if (items.length === 1 && only)
    return {
      subject: `${mark(only)}${only.title}`,
      paragraphs: [only.body, `This happened in ${workspace}.`],
      button: { label: 'Open', url: `${base}${only.link ?? '/settings/notifications'}` },
      footer: FOOTER,
    };
  return {
    subject: `${items.length} notifications from ${workspace}`,
    paragraphs: [
      ...items.slice(0, NAMED).map((item) => `${mark(item)}${item.title}. ${item.body}`),
      ...(items.length > NAMED ? [`And ${items.length - NAMED} more.`] : []),
    ],
    button: { label: 'View all notifications', url: `${base}/settings/notifications` },
    footer: FOOTER,
  };
}

const mark = ({ space }: Item) => (space === 'test' ? '[Test] ' : '');
