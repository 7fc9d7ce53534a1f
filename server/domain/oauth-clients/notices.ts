import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';
import { take } from '#server/platform/throttle.ts';
import { type ClientNews, oauthClientCreated, oauthClientRotated } from './letters.ts';

/** Clients created in a loop must not fill a mailbox; the audit log lists every one. */
const MAILS_AN_HOUR = 20;

type Named = { id: string; client_id: string; name: string };

/** Mails the Owners about a client that no person created (interface rule 21 §13). Written with the client; call the answer after the commit. */
export async function notifyClientCreated(tx: Tx, ctx: Ctx, client: Named): Promise<() => void> {
  const { actor } = ctx;
  const byPerson = actor.type === 'member' || actor.type === 'operator' || (actor.type === 'oauth_token' && actor.user_id !== null);
  return byPerson ? () => {} : notifyOwners(tx, ctx, client, 'oauth_client_made', oauthClientCreated);
}

/** Mails the Owners about a new secret, whoever made it. */
export const notifySecretRotated = (tx: Tx, ctx: Ctx, client: Named, worksUntil: Date | null): Promise<() => void> =>
  notifyOwners(tx, ctx, client, 'oauth_client_rotated', (news, url) => oauthClientRotated({ ...news, worksUntil }, url));

async function notifyOwners(tx: Tx, ctx: Ctx, client: Named, kind: string, letterOf: LetterOf): Promise<() => void> {
  const rule = { what: `${kind}-mail`, subject: ctx.tenant_id, limit: MAILS_AN_HOUR, window_sec: 3600 };
  if (!(await take(rule, ctx.now)).allowed) return () => {};
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
  const space = spaceOf(ctx.sandbox);
  const { name, client_id } = client;
  const letter = letterOf(
    { name, client_id, workspace: workspace.name, space, by: ctx.actor.label, ip: ctx.ip, at: ctx.now },
    `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${space}/oauth-clients/${client.id}`,
  );
  const ids = await postTeamMails(tx, { tenant_id: ctx.tenant_id, kind, letter, now: ctx.now });
  return () => {
    for (const id of ids) dispatch(ctx.db, id);
  };
}

type LetterOf = (news: ClientNews, url: string) => ReturnType<typeof oauthClientCreated>;
