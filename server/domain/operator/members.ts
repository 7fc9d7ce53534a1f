import { email as emailAddress } from '#server/domain/people/schema.ts';
import {
  acceptPassword,
  addMembership,
  canonicalEmail,
  createUser,
  endPerson,
  holdAddress,
  signOutMember,
  tenantIdsOf,
} from '#server/domain/people/service.ts';
import { endMembership, leaveSpace, lockMembers, mailOwnersOfMade, memberById } from '#server/domain/team/service.ts';
import { acrossSpaces } from '#server/kernel/across-spaces.ts';
import { MEMBER_ROLES, type MemberRole } from '#server/kernel/capabilities.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Family } from '#server/kernel/family.ts';
import { label } from '#server/kernel/fields.ts';
import { audited, unchanged } from '#server/kernel/mutate.ts';
import { db } from '#server/platform/db.ts';
import { audit, bySlug, fitting, oneOf, operatorCtx, refuse } from './acting.ts';

/**
 * Gives a person a role in a workspace, or ends the membership (`none`); somebody unknown gets an account. Without a password they sign in with
 * a mailed code. @throws Refusal validation_error when the workspace would be left without an Owner
 */
export async function setMember(
  input: { slug: string; email: string; role: string; name?: string; password?: string },
  families: readonly Family[],
) {
  const role = oneOf([...MEMBER_ROLES, 'none'] as const, input.role, '--role');
  const email = canonicalEmail(fitting(emailAddress(), input.email, '--email'));
  const full_name = input.name === undefined ? undefined : fitting(label(120), input.name, '--name');
  if (role === 'none' && (full_name ?? input.password) !== undefined)
    throw refuse("--role none can't be combined with --name or --password");
  if (role === 'none') return removeFrom(input.slug, email, families);
  const passwordHash = input.password ? await acceptPassword(input.password, email, 'password') : null;
  return db().$transaction(async (tx) => {
    await holdAddress(tx, email);
    const tenant = await bySlug(tx, input.slug);
    // Two commands at once must not each take away what they see as one of two Owners.
    await tx.$executeRaw`select 1 from tenants where id = ${tenant.id}::uuid for update`;
    const from = await roleOf(tx, tenant.id, email);
    if (from === 'owner' && role !== 'owner' && (await otherOwners(tx, tenant.id, email)) === 0) throw onlyOwner(input.slug, email);
    await ensureMember(tx, tenant.id, { email, role, full_name, passwordHash, now: new Date() });
    return { slug: tenant.slug, email, role, from };
  });
}

/** The person, whose address the caller holds, and the membership, each made when missing; a password given replaces the one there was, and ends what was signed in with it. */
export async function ensureMember(
  tx: Tx,
  tenantId: string,
  input: { email: string; role: MemberRole; full_name?: string | undefined; passwordHash: string | null; now: Date },
) {
  const { email, role, full_name, passwordHash, now } = input;
  const known = await tx.users.findUnique({ where: { email } });
  const user =
    known ?? (await createUser(tx, { email, full_name: full_name ?? '', password_hash: passwordHash, email_verified: true, now }));
  if (known && passwordHash) {
    await tx.users.update({ where: { id: known.id }, data: { password_hash: passwordHash } });
    // Whoever needed a new password may not be the only one signed in with the old one.
    const { sessions, apps } = await endPerson(tx, { user_id: known.id, reason: 'password_reset', now });
    for (const id of new Set([tenantId, ...(await tenantIdsOf(tx, known.id))])) {
      const details = { field: 'password', ended: { sessions, apps: apps[id] ?? 0 } };
      await audit(tx, id, { action: 'update', resource_type: 'user', resource_id: known.id, name: email, details });
    }
  }
  if (!known) await audit(tx, tenantId, { action: 'create', resource_type: 'user', resource_id: user.id, name: email });
  const member = await tx.memberships.findFirst({ where: { tenant_id: tenantId, user_id: user.id, removed_at: null } });
  if (member?.role === role) return;
  if (member) await tx.memberships.update({ where: { id: member.id }, data: { role } });
  else await addMembership(tx, { tenant_id: tenantId, user_id: user.id, role, source: 'invite', now });
  const details = member ? { from: member.role, role } : { role };
  await audit(tx, tenantId, { action: member ? 'update' : 'create', resource_type: 'member', resource_id: user.id, name: email, details });
}

const current = (tenantId: string, email: string) => ({ tenant_id: tenantId, removed_at: null, user: { email } });

const roleOf = async (tx: Tx, tenantId: string, email: string): Promise<string | null> =>
  (await tx.memberships.findFirst({ where: current(tenantId, email) }))?.role ?? null;

const otherOwners = (tx: Tx, tenantId: string, email: string) =>
  tx.memberships.count({ where: { tenant_id: tenantId, removed_at: null, role: 'owner', user: { email: { not: email } } } });

const onlyOwner = (slug: string, email: string) =>
  refuse(`--email ${email} is the only Owner of ${slug}. Make someone else an Owner first`);

/** Ends a membership with everything that hangs on it, as a removal on the page of the team does: their sessions here end, too. */
async function removeFrom(slug: string, email: string, families: readonly Family[]) {
  const tenant = await bySlug(db(), slug);
  return acrossSpaces(operatorCtx(tenant.id, 'live'), async (within) => {
    const { member, ended, made } = await within(false, async (tx, there) => {
      await lockMembers(tx, there.tenant_id);
      const row = await tx.memberships.findFirst({ where: current(there.tenant_id, email), select: { user_id: true } });
      if (!row) throw refuse(`--email ${email} is not a member of ${slug}`);
      const person = await memberById(tx, there, row.user_id);
      if (person.role === 'owner' && (await otherOwners(tx, there.tenant_id, email)) === 0) throw onlyOwner(slug, email);
      const out = await signOutMember(tx, there, person.id);
      const left = await endMembership(tx, there, person, families, { kinds: new Set(), tell: false });
      const details = { role: person.role, ended: { ...left.ended, sessions: out.sessions, oauth_grants: out.apps } };
      const entry = { action: 'delete', resource_type: 'member', resource_id: person.id, name: email, details, workspace_level: true };
      return audited({ member: person, ended: out, made: left.made }, entry);
    });
    const send = await within(true, async (tx, there) => {
      const left = await leaveSpace(tx, there, member, families);
      return unchanged(await mailOwnersOfMade(tx, there, member, [...made, ...left.made]));
    });
    send();
    return { slug, email, role: 'none' as const, from: member.role, ended };
  });
}
