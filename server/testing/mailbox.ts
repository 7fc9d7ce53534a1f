import { openMail } from '#server/domain/mail/service.ts';
import { addMembership, createUser } from '#server/domain/people/service.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import { newId } from '#server/kernel/ids.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';

/** A person of a role in a workspace, by their address. */
export async function joined(tenantId: string, role: MemberRole): Promise<string> {
  const email = `${role}-${newId()}@example.test`;
  const now = new Date();
  await db().$transaction(async (tx) => {
    const user = await createUser(tx, { email, full_name: role, password_hash: null, email_verified: true, now });
    await addMembership(tx, { tenant_id: tenantId, user_id: user.id, role, source: 'invite', now });
  });
  return email;
}

/** What was written to an address, the oldest first. */
export async function mailsTo(email: string) {
  await backgroundSettled();
  return (await db().mails.findMany({ where: { recipient: email }, orderBy: { created_at: 'asc' } })).map(openMail);
}
