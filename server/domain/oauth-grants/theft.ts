import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { endFamilies } from './families.ts';
import { tellOfTheft } from './notices.ts';

type Caller = { request_id: string; ip: string | null; user_agent: string | null };

/**
 * A code or refresh token was presented a second time: one of the two presenters stole it, and nobody knows which. Ends the whole family, and tells
 * the person and the Owners (interface rule 21 §4.3, §4.5; RFC 9700 §4.14). The first to notice tells; more uses change nothing.
 */
export async function endStolenFamily(familyId: string, reason: 'code_replay' | 'refresh_reuse', caller: Caller, now: Date): Promise<void> {
  const told = await db().$transaction(async (tx) => {
    await tx.$queryRaw`select 1 from oauth_families where id = ${familyId}::uuid for update`;
    const family = await tx.oauth_families.findFirst({
      where: { id: familyId },
      include: { client: { select: { name: true, client_id: true } } },
    });
    if (!family || (await endFamilies(tx, [familyId], reason, now)) === 0) return null;
    const { tenant_id, sandbox, user_id, client_row_id, client, scopes } = family;
    const ctx = { ...systemContext(db(), { tenant_id, sandbox, now, label: 'token endpoint' }), ...caller };
    await writeAudit(tx, ctx, {
      action: 'revoke',
      resource_type: 'oauth_grant',
      resource_id: familyId,
      name: client.name,
      reason,
      details: { client_id: client.client_id, user_id, scopes },
    });
    return tellOfTheft(db(), tx, { tenant_id, user_id, client_row_id, reason, ip: caller.ip, now });
  });
  told?.();
}
