import { dispatch, postMail, postTeamMails } from '#server/domain/mail/service.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { env } from '#server/platform/env.ts';
import { grantEnded, newGrant } from './letters.ts';

/**
 * Writes a mail to the person about an application's first login in their name, in the transaction of the consent. Whoever consents in a stolen session
 * would otherwise stay for months unseen. @returns what sends it, to call after the commit
 */
export async function tellOfGrant(
  tx: Tx,
  ctx: SignedInCtx,
  granted: { client_row_id: string; user_id: string; family_id: string; client: string; workspace: string; sandbox: boolean },
): Promise<() => void> {
  const earlier = await tx.oauth_families.findFirst({
    where: { client_row_id: granted.client_row_id, user_id: granted.user_id },
    select: { id: true },
  });
  if (earlier) return () => {};
  const letter = newGrant(
    { client: granted.client, workspace: granted.workspace, space: granted.sandbox ? 'test' : 'live', ip: ctx.ip, at: ctx.now },
    appsUrl(),
  );
  const id = await postMail(tx, { to: ctx.user.email, kind: 'oauth_grant_created', letter, now: ctx.now });
  return () => dispatch(ctx.db, id);
}

/** What died, and how it was noticed. */
export type Theft = {
  tenant_id: string;
  user_id: string;
  client_row_id: string;
  reason: 'refresh_reuse' | 'code_replay';
  ip: string | null;
  now: Date;
};

/**
 * Writes mails to the person and the Owners when a code or refresh token was used twice and the whole login ended (interface rule 21 §4.5), in the
 * transaction that ends it. @returns what sends them, to call after the commit
 */
export async function tellOfTheft(db: Db, tx: Tx, { tenant_id, user_id, client_row_id, reason, ip, now }: Theft): Promise<() => void> {
  const [client, person, tenant] = [
    await tx.oauth_clients.findUniqueOrThrow({ where: { id: client_row_id }, select: { name: true } }),
    await tx.users.findUnique({ where: { id: user_id }, select: { email: true } }),
    await tx.tenants.findUniqueOrThrow({ where: { id: tenant_id }, select: { name: true, slug: true } }),
  ];
  const facts = { client: client.name, workspace: tenant.name, person: person?.email ?? 'a former member', reason, ip, at: now };
  const kind = 'oauth_grant_stolen';
  const ids = await postTeamMails(tx, {
    tenant_id,
    kind,
    letter: grantEnded(facts, { label: 'View the audit log', url: `${env.PUBLIC_ADMIN_URL}/${tenant.slug}/live/audit` }),
    now,
  });
  const isOwner =
    person && (await tx.memberships.findFirst({ where: { tenant_id, user_id, role: 'owner', removed_at: null }, select: { id: true } }));
  if (person && !isOwner)
    ids.push(
      await postMail(tx, { to: person.email, kind, letter: grantEnded(facts, { label: 'View connected apps', url: appsUrl() }), now }),
    );
  return () => {
    for (const id of ids) dispatch(db, id);
  };
}

const appsUrl = () => `${env.PUBLIC_ADMIN_URL}/me/apps`;
