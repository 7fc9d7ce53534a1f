import type { Db, Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { inBackground } from '#server/platform/background.ts';
import { deliver, mailLeaves } from '#server/platform/mail.ts';
import { openMail, sealBody } from './sealing.ts';
import { type Letter, render } from './templates.ts';

export { mailName, openMail } from './sealing.ts';
export type { Letter } from './templates.ts';

const retryFor = 24 * 3_600_000;

/**
 * Writes a mail in the caller's transaction. `dispatch` it after the commit; if this process dies in between, `retryUnsentMails` finds the row. `id` is for work
 * that may run again: it looks for it first.
 * @returns the row's id
 */
export async function postMail(tx: Tx | Db, mail: { id?: string; to: string; kind: string; letter: Letter; now: Date }): Promise<string> {
  const { subject, ...body } = render(mail.letter);
  const { id = newId() } = mail;
  const stored = mail.letter.credential ? sealBody(id, body) : body;
  await tx.mails.create({ data: { id, recipient: mail.to, kind: mail.kind, subject, ...stored, created_at: mail.now } });
  return id;
}

export type ComposedMail = {
  id: string;
  to: string;
  kind: string;
  subject: string;
  text: string;
  html: string | null;
  reply_to: string | null;
  now: Date;
};

/**
 * Writes a mail that somebody else composed, sealed like one that signs in: nobody but its readers reads it. The same ID writes it once. `dispatch` it
 * afterwards.
 */
export async function postComposedMail(tx: Tx | Db, { id, to, kind, subject, text, html, reply_to, now }: ComposedMail): Promise<void> {
  const line = subject.replace(/\s+/g, ' ').slice(0, 180);
  const data = { id, recipient: to, kind, subject: line, reply_to, ...sealBody(id, { text, html }), created_at: now };
  await tx.mails.createMany({ data, skipDuplicates: true });
}

/**
 * The same inside row-level security, to a member of the workspace or somebody it invited; the database refuses any other address.
 * @returns the row's id, to dispatch after the commit
 */
export async function postColleagueMail(tx: Tx, mail: { to: string; kind: string; letter: Letter; now: Date }): Promise<string> {
  const { subject, ...body } = render(mail.letter);
  const id = newId();
  const stored = { sealed: null, root_key_id: null, ...(mail.letter.credential ? sealBody(id, body) : body) };
  await tx.$executeRaw`select mail_colleague(${id}::uuid, ${mail.to}, ${mail.kind}, ${subject}, ${stored.text}, ${stored.html}, ${stored.sealed}::bytea, ${stored.root_key_id}, ${mail.now})`;
  return id;
}

/**
 * The same to the address of a share of this workspace, and to no other.
 * @returns the row's id, to dispatch after the commit
 */
export async function postShareMail(tx: Tx, mail: { share_id: string; kind: string; letter: Letter; now: Date }): Promise<string> {
  const { subject, ...body } = render(mail.letter);
  const id = newId();
  const stored = { sealed: null, root_key_id: null, ...(mail.letter.credential ? sealBody(id, body) : body) };
  await tx.$executeRaw`select mail_share_recipient(${id}::uuid, ${mail.share_id}::uuid, ${mail.kind}, ${subject}, ${stored.text}, ${stored.html}, ${stored.sealed}::bytea, ${stored.root_key_id}, ${mail.now})`;
  return id;
}

type TeamMail = { tenant_id: string; kind: string; letter: Letter; now: Date; to?: readonly ('owner' | 'admin')[] };

/**
 * Writes a mail to every Owner of the workspace, or to all people of the roles in `to`, in the caller's transaction, also inside row-level security.
 * @returns the rows' ids, to dispatch after the commit
 */
export async function postTeamMails(tx: Tx | Db, { to = ['owner'], ...mail }: TeamMail): Promise<string[]> {
  const { subject, text, html } = render(mail.letter);
  const rows = await tx.$queryRaw<
    { id: string }[]
  >`select id from mail_roles(${mail.tenant_id}::uuid, ${to}::text[], ${mail.kind}, ${subject}, ${text}, ${html}, ${mail.now}) as id`;
  return rows.map((row) => row.id);
}

/** Sends a written mail soon, without making anybody wait. */
export function dispatch(db: Db, id: string): void {
  inBackground('mail', () => send(db, id));
}

/** Writes and sends a notice that belongs to no transaction. */
export async function sendMail(db: Db, mail: Parameters<typeof postMail>[1]): Promise<void> {
  await send(db, await postMail(db, mail));
}

async function send(db: Db, id: string): Promise<void> {
  const mail = await db.mails.findFirst({ where: { id, sent_at: null } });
  if (!mail) return;
  try {
    await deliver(openMail(mail));
    // What was handed over is not kept: it may hold a link that still works. Without SMTP the row is the only copy.
    const kept = mailLeaves() ? { text: '', html: null, sealed: null, root_key_id: null } : {};
    await db.mails.update({ where: { id }, data: { sent_at: new Date(), error: null, ...kept } });
  } catch (error) {
    await db.mails.update({ where: { id }, data: { error: error instanceof Error ? error.message.slice(0, 300) : 'unknown' } });
  }
}

/**
 * Tries again what is still unsent, for a day; called by the worker each minute. Rows younger than a minute belong to the process that wrote
 * them: its own try ends within 40 s, so nobody gets a mail twice.
 */
export async function retryUnsentMails(db: Db, now: Date): Promise<number> {
  const rows = await db.mails.findMany({
    where: { sent_at: null, created_at: { gt: new Date(now.getTime() - retryFor), lt: new Date(now.getTime() - 60_000) } },
    select: { id: true },
    orderBy: { created_at: 'asc' },
    take: 100,
  });
  for (const { id } of rows) await send(db, id);
  return rows.length;
}

/** The newest mails of an installation that sends none. The caller decides who may look. */
export async function latestMails(db: Db) {
  const rows = await db.mails.findMany({ orderBy: { created_at: 'desc' }, take: 50 });
  return rows.map(openMail);
}

/** Forgets mails after 30 days, at once what nobody can send any more. */
export const pruneMails = (db: Db, now: Date) =>
  db.mails.deleteMany({
    where: {
      OR: [
        { created_at: { lt: new Date(now.getTime() - 30 * retryFor) } },
        { sent_at: null, created_at: { lt: new Date(now.getTime() - 2 * retryFor) } },
      ],
    },
  });
