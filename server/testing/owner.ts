import type { MemberRole } from '#server/kernel/capabilities.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import type { Workspace } from './workspace.ts';

/** A person with a membership, for tokens that act for one. */
export async function ownerOf({ tenant }: Pick<Workspace, 'tenant'>, role: MemberRole = 'owner') {
  const id = newId();
  const user = await db().users.create({ data: { id, email: `${id}@example.test`, full_name: 'Ada' } });
  await db().memberships.create({ data: { id: newId(), tenant_id: tenant.id, user_id: id, role } });
  return user;
}
