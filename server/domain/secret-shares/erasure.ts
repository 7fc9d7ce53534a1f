import { postMail } from '#server/domain/mail/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import { shareRevoked } from './letters.ts';

/**
 * Ends every share of a workspace whose keys are about to be destroyed (interface rule 31 §12), in both spaces: what it shares is revoked and what it was given is left. Runs
 * outside row-level security, in the transaction of the erasure. Triggers tell the gateways of the other side. @returns mails to dispatch after the commit
 */
export async function endSharesOf(tx: Tx, workspace: { id: string; name: string }, now: Date): Promise<string[]> {
  const given = await tx.secret_shares.findMany({
    where: { tenant_id: workspace.id, status: { in: ['pending', 'active'] } },
    select: { recipient_email: true, secret_name: true, status: true },
  });
  await tx.secret_shares.updateMany({
    where: { tenant_id: workspace.id, status: { in: ['pending', 'active'] } },
    data: { status: 'revoked', revoked_at: now, token_digest: null, updated_at: now },
  });
  await tx.secret_shares.updateMany({
    where: { recipient_tenant_id: workspace.id, status: 'active' },
    data: { status: 'left', updated_at: now },
  });
  const mails: string[] = [];
  for (const { recipient_email: to, secret_name: secret, status } of given) {
    const letter = shareRevoked({ workspace: workspace.name, secret, was: status as 'pending' | 'active' });
    mails.push(await postMail(tx, { to, kind: 'share_revoked', letter, now }));
  }
  return mails;
}
