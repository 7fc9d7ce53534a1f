import type { z } from 'zod';
import { lockMembers, updateMember } from '#server/domain/team/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import type { MemberRole } from '#server/kernel/role-matrix.ts';
import type { AccessRequest, CreateAccessRequest, DecideAccessRequest } from './schema.ts';
import type { Wanted } from './wanted.shared.ts';

type Row = Prisma.access_requestsGetPayload<object>;
type View = z.input<typeof AccessRequest>;

const NEWEST = 100;
/** Roles by how much they may; one asks for more than one has. */
const RANKS: Readonly<Record<MemberRole, number>> = { member: 0, viewer: 1, editor: 2, admin: 3, owner: 4 };
const WORDS: Readonly<Record<Wanted, string>> = {
  reveal_secrets: 'the right to reveal secrets',
  viewer: 'the Viewer role',
  editor: 'the Editor role',
};

/** Whoever decides sees everybody's, others their own; the newest hundred, open ones first. @throws Refusal role_denied */
export function listRequests(ctx: Ctx): Promise<View[]> {
  const person = personIn(ctx);
  const all = ctx.actor.capabilities.has('member:update');
  return read(ctx, async (tx) => {
    const rows = await tx.access_requests.findMany({
      where: { tenant_id: ctx.tenant_id, ...(all ? {} : { user_id: person.id }) },
      orderBy: [{ decided_at: { sort: 'desc', nulls: 'first' } }, { created_at: 'desc' }],
      take: NEWEST,
    });
    return rows.map((row) => shown(row, person.id));
  });
}

/** Asks Owners and Admins, who are told in their inbox. @throws Refusal role_denied, conflict for what one has or has asked for already */
export function createRequest(ctx: Ctx, { wants, reason }: z.output<typeof CreateAccessRequest>): Promise<View> {
  const person = personIn(ctx);
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:access_requests:${person.id}`);
    if (wants === 'reveal_secrets') {
      if (RANKS[person.role] >= RANKS.admin || person.reveal_secrets)
        throw new Refusal('conflict', 'You can reveal the values of secrets already.');
      if (person.role !== 'editor') throw new Refusal('role_denied', 'Revealing secrets takes the Editor role. Ask for that role first.');
    } else if (RANKS[person.role] >= RANKS[wants]) throw new Refusal('conflict', `Your role includes ${WORDS[wants]} already.`);
    const open = await tx.access_requests.count({ where: { tenant_id: ctx.tenant_id, user_id: person.id, wants, state: 'open' } });
    if (open > 0) throw new Refusal('conflict', `You have asked for ${WORDS[wants]} already. An Owner or Admin decides.`);
    const row = await tx.access_requests.create({
      data: {
        ...{ id: newId(), tenant_id: ctx.tenant_id, user_id: person.id, person: person.label, wants, reason },
        ...{ state: 'open', created_at: ctx.now },
      },
    });
    return audited(shown(row, person.id), { ...entry('create', row), reason });
  });
}

/**
 * Gives what was asked for, or does not; either way whoever asked is told. What may be given is the rule of the team: an Admin manages those below Admin, nobody
 * their own role. @throws Refusal not_found, role_denied, conflict for what is decided already
 */
export function decideRequest(ctx: Ctx, { id, approve }: z.output<typeof DecideAccessRequest>): Promise<View> {
  const person = personIn(ctx);
  return mutate(ctx, async (tx) => {
    await lockMembers(tx, ctx.tenant_id);
    const row = isUuid(id) ? await tx.access_requests.findFirst({ where: { id, tenant_id: ctx.tenant_id } }) : null;
    if (!row) throw notFound();
    if (row.user_id === person.id) throw new Refusal('role_denied', "You can't decide about your own request. Ask another Owner or Admin.");
    if (row.state !== 'open') throw new Refusal('conflict', `${row.decided_by ?? 'Somebody'} has ${row.state} it already.`);
    if (approve) await give({ ...ctx, tx }, tx, row);
    const after = await tx.access_requests.update({
      where: { id: row.id, tenant_id: ctx.tenant_id },
      data: { state: approve ? 'approved' : 'denied', decided_by: person.label, decided_at: ctx.now },
    });
    return audited(shown(after, person.id), entry('update', after));
  });
}

async function give(ctx: Ctx, tx: Tx, { user_id, wants }: Row): Promise<void> {
  const member = await tx.memberships.count({ where: { tenant_id: ctx.tenant_id, user_id, removed_at: null } });
  if (member === 0) throw new Refusal('conflict', 'This person is no longer a member of the workspace. Deny the request.');
  await updateMember(
    ctx,
    wants === 'reveal_secrets' ? { id: user_id, reveal_secrets: true } : { id: user_id, role: wants as 'viewer' | 'editor' },
  );
}

const shown = ({ user_id, wants, state, ...row }: Row, personId: string): View => ({
  ...row,
  ...{ wants: wants as View['wants'], state: state as View['state'], mine: user_id === personId },
});

const entry = (action: 'create' | 'update', row: Row) => ({
  action,
  resource_type: 'access_request',
  resource_id: row.id,
  name: row.person,
  details: { wants: WORDS[row.wants as Wanted], person_id: row.user_id, ...(action === 'update' ? { decision: row.state } : {}) },
  workspace_level: true,
});

function personIn(ctx: Ctx) {
  if (ctx.actor.type !== 'member') throw new Refusal('role_denied', 'Only signed-in people ask for access.');
  return ctx.actor;
}

/** What a person who leaves had asked for is over. */
export async function endRequests(tx: Tx, ctx: Ctx, userId: string): Promise<Record<string, number>> {
  const { count } = await tx.access_requests.deleteMany({ where: { tenant_id: ctx.tenant_id, user_id: userId, state: 'open' } });
  return { access_requests: count };
}
