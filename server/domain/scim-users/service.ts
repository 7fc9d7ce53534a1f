import { dispatch } from '#server/domain/mail/service.ts';
import { holdAddress, signOutMember } from '#server/domain/people/service.ts';
import { endMembership, leaveSpace, lockMembers, mailOwnersOfMade, memberById } from '#server/domain/team/service.ts';
import { acrossSpaces, type Within } from '#server/kernel/across-spaces.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { Family } from '#server/kernel/family.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { joinByDirectory } from './joining.ts';
import { addressOf, changedAttributes, type DirectoryPerson, type DirectoryRecord, fullNameOf, storedPerson } from './record.ts';
import { assertUnique, isLinked, loginAddress, memberWithAddress, recordById } from './store.ts';

export { type ListedPeople, listDirectoryPeople, listRecords } from './listing.ts';
export type { DirectoryEmail, DirectoryPerson, DirectoryRecord } from './record.ts';
export { ACTIVE } from './record.ts';

/** @throws Refusal not_found */
export const getRecord = (ctx: Ctx, id: string) => read(ctx, (tx) => recordById(tx, ctx, id));

/**
 * Puts a person into the directory. Unless they are to be inactive, they become a member if they aren't one; a member keeps their role (interface rule 23 §6.2).
 * @throws Refusal conflict, validation_error, plan_limit
 */
export async function createRecord(ctx: Ctx, person: DirectoryPerson, { active }: { active: boolean }): Promise<DirectoryRecord> {
  const address = addressOf(person);
  let mail: string | null = null;
  const record = await mutate(ctx, async (tx) => {
    await holdAddress(tx, address);
    await lockMembers(tx, ctx.tenant_id);
    await assertUnique(tx, ctx, person);
    const member = await memberWithAddress(tx, ctx, address);
    if (member !== null && (await isLinked(tx, ctx, member))) throw alreadyLinked();
    const id = newId();
    const joined = member === null && active ? await joinByDirectory(tx, ctx, address, fullNameOf(person)) : null;
    if (joined && (await isLinked(tx, ctx, joined.user_id))) throw alreadyLinked();
    const user_id = member ?? joined?.user_id ?? null;
    await tx.scim_users.create({
      data: {
        id,
        tenant_id: ctx.tenant_id,
        user_id,
        address,
        ...storedPerson(person),
        created_at: ctx.now,
        updated_at: ctx.now,
        synced_at: ctx.now,
      },
    });
    mail = joined?.mail ?? null;
    const entry = { action: 'create', ...entryOf({ id, user_name: person.user_name }), details: { user_id, active: user_id !== null } };
    return audited(await recordById(tx, ctx, id), entry, joined ? [joined.entry] : []);
  });
  if (mail) dispatch(ctx.db, mail);
  return record;
}

const alreadyLinked = () => new Refusal('conflict', 'Another user of this directory stands for the same account.');

/** What a change makes of a record. `active` is absent when nothing was said about it. */
export type Change = (before: DirectoryRecord) => { person: DirectoryPerson; active?: boolean | undefined };

/**
 * Changes a record and, when `active` changes, the membership behind it: in one transaction, before the answer (interface rule 23 §6.4, §8).
 * @throws Refusal not_found, conflict, validation_error, plan_limit, last_owner, role_denied; whatever `change` throws
 */
export function changeRecord(ctx: Ctx, id: string, change: Change, families: readonly Family[]): Promise<DirectoryRecord> {
  return inLive(ctx, id, families, async (tx, there, before, end) => {
    const { person, active } = change(before);
    await assertUnique(tx, there, person, id);
    const changed = changedAttributes(before, person);
    const entries: AuditEntry[] = [];
    let { address, user_id } = before;
    let mail: string | null = null;
    if (user_id === null && changed.length > 0) {
      address = addressOf(person);
      const member = await memberWithAddress(tx, there, address);
      if (member !== null && !(await isLinked(tx, there, member))) user_id = member;
    }
    if (active === true && !before.member && user_id === before.user_id) {
      const joined = await joinByDirectory(tx, there, (user_id && (await loginAddress(tx, user_id))) || address, fullNameOf(person));
      if (user_id === null && (await linkedElsewhere(tx, there, joined.user_id, id))) throw alreadyLinked();
      user_id = joined.user_id;
      mail = joined.mail;
      entries.push({ action: 'enable', ...entryOf(before) }, joined.entry);
    }
    if (active === false && before.member) entries.push({ action: 'disable', ...entryOf(before) }, await end());
    if (changed.length > 0)
      entries.unshift({
        action: 'update',
        ...entryOf({ id, user_name: person.user_name }),
        changes: changed.map((field) => ({ field, changed: true as const })),
      });
    await tx.scim_users.update({
      where: { id },
      data: { ...storedPerson(person), address, user_id, synced_at: there.now, ...(entries.length > 0 ? { updated_at: there.now } : {}) },
    });
    return { value: await recordById(tx, there, id), entries, mail };
  });
}

/** Ends the membership and leaves a tombstone. @throws Refusal not_found, last_owner, role_denied */
export function deleteRecord(ctx: Ctx, id: string, families: readonly Family[]): Promise<void> {
  return inLive(ctx, id, families, async (tx, there, before, end) => {
    const ended = before.member ? [await end()] : [];
    // What is left says that there was a record, and nothing about the person.
    await tx.scim_users.update({
      where: { id },
      data: {
        external_id: null,
        given_name: null,
        family_name: null,
        formatted: null,
        display_name: null,
        emails: [],
        synced_at: there.now,
        deleted_at: there.now,
      },
    });
    return { value: undefined, entries: [{ action: 'delete', ...entryOf(before) }, ...ended], mail: null };
  });
}

type Work<T> = (
  tx: Tx,
  ctx: Ctx,
  before: DirectoryRecord,
  /** Ends the membership, in Live now and in Test afterwards; answers its audit entry. */
  end: () => Promise<AuditEntry>,
) => Promise<{ value: T; entries: AuditEntry[]; mail: string | null }>;

/** A change of one record with the members of its workspace locked, and the end of a membership carried into Test. */
async function inLive<T>(ctx: Ctx, id: string, families: readonly Family[], work: Work<T>): Promise<T> {
  const sends: (() => void)[] = [];
  const result = await acrossSpaces(ctx, async (within) => {
    let ended: Gone | null = null;
    const done = await within(false, async (tx, there) => {
      // In the order in which every way to join takes these locks.
      await holdAddress(tx, (await recordById(tx, there, id)).address);
      await lockMembers(tx, there.tenant_id);
      const before = await recordById(tx, there, id);
      const { entries, ...rest } = await work(tx, there, before, async () => {
        const member = await memberById(tx, there, before.user_id ?? '');
        // A directory signs people out, too: those whose session acts in this workspace.
        const { sessions, apps } = await signOutMember(tx, there, member.id);
        const left = await endMembership(tx, there, member, families, { kinds: new Set(), tell: true });
        if (member.role === 'owner') await assertOwnersCredential(tx, there);
        ended = { member, made: left.made };
        sends.push(left.send);
        return membershipEnd(member, { ...left.ended, ...(apps > 0 ? { oauth_grants: apps } : {}), ...(sessions > 0 ? { sessions } : {}) });
      });
      const [first, ...more] = entries;
      return first ? audited(rest, first, more) : unchanged(rest);
    });
    if (ended) sends.push(await leaveTest(within, ended, families));
    return done;
  });
  for (const send of sends) send();
  if (result.mail) dispatch(ctx.db, result.mail);
  return result.value;
}

/**
 * Admins make credentials too, and can't remove an Owner: neither can what they made (interface rules 22 §8, 23 §11). Whoever made it is judged by the role
 * they have, or had when they left. @throws Refusal role_denied
 */
async function assertOwnersCredential(tx: Tx, ctx: Ctx): Promise<void> {
  const id = ctx.actor.type === 'scim' ? ctx.actor.id : null;
  const credential = id && (await tx.scim_credentials.findFirst({ where: { tenant_id: ctx.tenant_id, id }, select: { created_by: true } }));
  const user_id = credential ? credential.created_by : null;
  const maker =
    user_id &&
    (await tx.memberships.findFirst({
      where: { tenant_id: ctx.tenant_id, user_id },
      orderBy: [{ removed_at: { sort: 'desc', nulls: 'first' } }],
      select: { role: true },
    }));
  if (!maker || maker.role !== 'owner')
    throw new Refusal(
      'role_denied',
      'This person is an Owner, and the credential was made by somebody who is not. An Owner can remove them under Team, or make the credential of the directory.',
    );
}

type Gone = { member: { id: string; email: string }; made: Awaited<ReturnType<typeof leaveSpace>>['made'] };

/** The directory revokes nothing of what they made: the Owners hear of it. @returns what sends the mail, to call after the commit */
const leaveTest = (within: Within, { member, made }: Gone, families: readonly Family[]) =>
  within(true, async (tx, there) => {
    const left = await leaveSpace(tx, there, member, families);
    return unchanged(await mailOwnersOfMade(tx, there, member, [...made, ...left.made]));
  });

const membershipEnd = (member: { id: string; email: string; role: string }, ended: Record<string, number>): AuditEntry => ({
  action: 'delete',
  resource_type: 'member',
  resource_id: member.id,
  name: member.email,
  details: { via: 'scim', role: member.role, by_self: false, ended },
  workspace_level: true,
});

const linkedElsewhere = async (tx: Tx, ctx: Ctx, userId: string, id: string): Promise<boolean> =>
  (await tx.scim_users.count({ where: { tenant_id: ctx.tenant_id, user_id: userId, deleted_at: null, id: { not: id } } })) > 0;

const entryOf = ({ id, user_name }: { id: string; user_name: string }): Omit<AuditEntry, 'action'> => ({
  resource_type: 'scim_user',
  resource_id: id,
  name: user_name,
  workspace_level: true,
});
