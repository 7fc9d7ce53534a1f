import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';
import { take } from '#server/platform/throttle.ts';
import { tokenExposed, wrapHostsAdded } from './letters.ts';

/** Hosts added in a loop must not fill a mailbox; the audit log lists every one. */
const MAILS_AN_HOUR = 20;

type News = { id: string; name: string; added: readonly string[] };

/** Mails the Owners that a wrap credential may go to further hosts. Written with the change; call the answer after the commit. */
export async function notifyHostsAdded(tx: Tx, ctx: Ctx, { name, added }: News): Promise<() => void> {
  const rule = { what: 'wrap-hosts-mail', subject: ctx.tenant_id, limit: MAILS_AN_HOUR, window_sec: 3600 };
  if (!(await take(rule, ctx.now)).allowed) return () => {};
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
  const space = spaceOf(ctx.sandbox);
  const letter = wrapHostsAdded(
    { name, added, workspace: workspace.name, space, by: ctx.actor.label, at: ctx.now },
    `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${space}/wrap`,
  );
  const ids = await postTeamMails(tx, { tenant_id: ctx.tenant_id, kind: 'wrap_hosts_added', letter, now: ctx.now });
  return () => {
    for (const id of ids) dispatch(ctx.db, id);
  };
}

const BATCH = 100;

/** Mails the Owners about tokens that gateways revoked because they arrived over plain HTTP; each once. @returns tokens told of */
export async function notifyExposed(db: Db, now: Date): Promise<number> {
  const told = await db.$transaction(async (tx) => {
    const rows = await tx.$queryRaw<
      { id: string; tenant_id: string; sandbox: boolean; host: string; secret: string; workspace: string; slug: string }[]
    >`
      select k.id, k.tenant_id, k.sandbox, k.host, s.name as secret, t.name as workspace, t.slug
      from wrap_tokens k join secrets s on s.id = k.secret_id join tenants t on t.id = k.tenant_id
      where k.revoked_reason = 'exposed' and k.exposure_told_at is null order by k.id limit ${BATCH} for update of k skip locked`;
    const mails: string[] = [];
    for (const { tenant_id, sandbox, host, secret, workspace, slug } of rows) {
      const space = spaceOf(sandbox);
      const letter = tokenExposed({ host, secret, workspace, space, at: now }, `${env.PUBLIC_ADMIN_URL}/${slug}/${space}/wrap?tab=tokens`);
      mails.push(...(await postTeamMails(tx, { tenant_id, kind: 'wrap_token_exposed', letter, now })));
    }
    await tx.wrap_tokens.updateMany({ where: { id: { in: rows.map((row) => row.id) } }, data: { exposure_told_at: now } });
    return { tokens: rows.length, mails };
  });
  for (const id of told.mails) dispatch(db, id);
  return told.tokens;
}
