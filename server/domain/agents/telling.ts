import { dispatch, type Letter, postTeamMails } from '#server/domain/mail/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';
import type { AboutAgent } from './letters.ts';

/** Writes a mail to the Owners in the transaction of what it tells. @returns its ids, for `sendWritten` after the commit */
export async function mailOwners(
  tx: Tx,
  ctx: Pick<Ctx, 'tenant_id' | 'sandbox' | 'now'>,
  agent: { id: string; name: string; agent_id: string },
  kind: string,
  letterOf: (about: AboutAgent) => Letter,
): Promise<string[]> {
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
  const space = spaceOf(ctx.sandbox);
  const url = `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${space}/agents/${agent.id}`;
  const letter = letterOf({ workspace: workspace.name, space, name: agent.name, agent_id: agent.agent_id, url });
  return postTeamMails(tx, { tenant_id: ctx.tenant_id, kind, letter, now: ctx.now });
}

export function sendWritten(ctx: Pick<Ctx, 'db'>, mails: readonly string[]): void {
  for (const mail of mails) dispatch(ctx.db, mail);
}
