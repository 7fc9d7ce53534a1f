import { addMembership, createUser } from '#server/domain/people/service.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { fresh } from '#server/testing/factories.ts';
import { keyActor, memberActor, tokenActor, type Workspace } from '#server/testing/workspace.ts';

// Callers that exist as rows, so that what ends them ends what they stand behind.

/** A stored API key of a seeded role. */
export async function withKey(
  w: Workspace,
  { space = 'live', role = 'Key - Infrastructure', ...extra }: { space?: Space; role?: string; [column: string]: unknown } = {},
): Promise<Ctx> {
  const { row } = await w.key(space, role, extra);
  return w.ctx(space, { ...keyActor(role), id: row.id, key_id: row.key_id, label: row.key_id } as Ctx['actor']);
}

/** A person with a membership. */
export async function withPerson(w: Workspace, role: MemberRole, space: Space = 'live'): Promise<Ctx> {
  const now = new Date();
  const email = `${fresh(role)}@example.com`;
  const id = await db().$transaction(async (tx) => {
    const person = await createUser(tx, { email, full_name: role, password_hash: null, email_verified: true, now });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: person.id, role, source: 'signup', now });
    return person.id;
  });
  return w.ctx(space, { ...memberActor(role), id, label: email } as Ctx['actor']);
}

/** A token of a stored OAuth client, for a person where one is given. */
export async function withToken(w: Workspace, space: Space = 'live', person?: Ctx, extra: Record<string, unknown> = {}): Promise<Ctx> {
  const client = await w.client(space, extra);
  const actor = tokenActor();
  const of =
    person?.actor.type === 'member' ? { user_id: person.actor.id, person: { email: person.actor.label, role: person.actor.role } } : {};
  return w.ctx(space, { ...actor, id: client.id, client_id: client.client_id, label: client.name, ...of } as Ctx['actor']);
}
