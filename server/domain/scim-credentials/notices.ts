import { postTeamMails } from '#server/domain/mail/service.ts';
import { scimCredentialCreated, scimCredentialEnding } from '#server/domain/mail/templates.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';

type Credential = { tenant_id: string; name: string; prefix: string; space: string; expires_at: Date };

/** Tells every Owner of a new credential. @returns the mails, to dispatch after the commit */
export async function mailCredentialCreated(tx: Tx, ctx: Ctx, credential: Credential): Promise<string[]> {
  const { workspace, url } = await placeOf(tx, credential.tenant_id);
  const letter = scimCredentialCreated({ ...credential, workspace, by: ctx.actor.label, ip: ctx.ip, at: ctx.now }, url);
  return postTeamMails(tx, { tenant_id: ctx.tenant_id, kind: 'scim_credential_created', letter, now: ctx.now });
}

/** Tells every Owner that a credential ends within this many days, or that it has ended (0). */
export async function mailCredentialEnding(tx: Tx, credential: Credential, days: number, now: Date): Promise<void> {
  const { workspace, url } = await placeOf(tx, credential.tenant_id);
  const letter = scimCredentialEnding({ ...credential, workspace, ends: credential.expires_at, days }, url);
  await postTeamMails(tx, { tenant_id: credential.tenant_id, kind: 'scim_credential_ending', letter, now });
}

async function placeOf(tx: Tx, tenantId: string) {
  const { name, slug } = await tx.tenants.findUniqueOrThrow({ where: { id: tenantId }, select: { name: true, slug: true } });
  return { workspace: name, url: `${env.PUBLIC_ADMIN_URL}/${slug}/settings/directory` };
}
