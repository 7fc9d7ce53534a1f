import { postTeamMails } from '#server/domain/mail/service.ts';
import type { Letter } from '#server/domain/mail/templates.ts';
import type { Db } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';

type Flagged = {
  tenant_id: string;
  space: 'live' | 'test';
  token: string;
  agent_id: string | null;
  ip: string;
  from: string | null;
  to: string | null;
};

/** Tells the Owners of a capability token that was stopped because it was used from two places too far apart. @returns mails written */
export async function alertOfTravel(db: Db, payload: Record<string, unknown>, now: Date): Promise<number> {
  const flagged = payload as Flagged;
  const workspace = await db.tenants.findUnique({ where: { id: flagged.tenant_id }, select: { name: true, slug: true } });
  if (!workspace) return 0;
  const page = `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${flagged.space}/ai${flagged.agent_id === null ? '' : `/agents/${flagged.agent_id}`}`;
  const letter = letterOf(workspace.name, flagged, page);
  return (await postTeamMails(db, { tenant_id: flagged.tenant_id, kind: 'ai_step_up', letter, now })).length;
}

const letterOf = (workspace: string, { space, token, ip, from, to }: Flagged, url: string): Letter => ({
  subject: `${space === 'test' ? '[Test] ' : ''}A capability token in ${workspace} was stopped`,
  paragraphs: [
    `The capability token "${token}" was used from two places that nobody can travel between in that time${from && to ? ` (${from}, then ${to})` : ''}. Its calls are refused until somebody confirms it.`,
    `IP address of the last call: ${ip}`,
    "If you don't expect this, revoke the token. If the agent moved between networks, clear the flag, and list those networks in the settings of the workspace.",
  ],
  button: { label: 'View tokens', url },
});
