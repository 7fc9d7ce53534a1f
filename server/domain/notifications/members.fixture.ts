import { addMembership, createUser } from '#server/domain/people/service.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { memberActor, type Workspace } from '#server/testing/workspace.ts';

/** A stored member of a workspace, with the context of their calls. */
export async function member(w: Workspace, role: MemberRole, space: 'live' | 'test' = 'live') {
  const now = new Date();
  const email = `${role}-${newId()}@example.test`;
  const user = await db().$transaction(async (tx) => {
    const made = await createUser(tx, { email, full_name: role, password_hash: null, email_verified: true, now });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: made.id, role, source: 'invite', now });
    return made;
  });
  const ctx = (): Ctx => ({ ...w.ctx(space, { ...memberActor(role), id: user.id, label: email } as Ctx['actor']) });
  return { id: user.id, email, ctx };
}
