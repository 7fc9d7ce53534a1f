import { postTeamMails } from '#server/domain/mail/service.ts';
import { tokensGuessed } from '#server/domain/mail/templates.ts';
import { spaceOf } from '#server/kernel/context.ts';
import type { Db } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';

/** Tells the Owners of a credential that was stopped because it asked for many tokens that don't exist. @returns mails written */
export async function alertOfGuessing(db: Db, payload: Record<string, unknown>, now: Date): Promise<number> {
  const { tenant_id, sandbox, actor, ip } = payload as { tenant_id: string; sandbox: boolean; actor: string; ip: string | null };
  const workspace = await db.tenants.findUnique({ where: { id: tenant_id }, select: { name: true, slug: true } });
  if (!workspace) return 0;
  const letter = tokensGuessed(
    { workspace: workspace.name, space: spaceOf(sandbox), credential: actor, ip },
    `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${spaceOf(sandbox)}/api-keys`,
  );
  return (await postTeamMails(db, { tenant_id, kind: 'tokens_guessed', letter, now })).length;
}
