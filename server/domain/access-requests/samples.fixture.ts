import { addMembership, createUser } from '#server/domain/people/service.ts';
import { asMember } from '#server/domain/team/members.fixture.ts';
import { newId } from '#server/kernel/ids.ts';
import type { MemberRole } from '#server/kernel/role-matrix.ts';
import { db } from '#server/platform/db.ts';
import type { Sample } from '#server/testing/factories.ts';

/** A request, made by the database: the caller of a sample is an Owner, who has nothing to ask for. */
const asking =
  (role: MemberRole, wants: string): Sample =>
  async (ctx) => {
    const now = new Date();
    const id = newId();
    await db().$transaction(async (tx) => {
      const user = await createUser(tx, { email: `${id}@example.test`, full_name: 'V', password_hash: null, email_verified: true, now });
      await addMembership(tx, { tenant_id: ctx.tenant_id, user_id: user.id, role, source: 'invite', now });
      const data = {
        id,
        tenant_id: ctx.tenant_id,
        user_id: user.id,
        person: user.email,
        wants,
        reason: 'x',
        state: 'open',
        created_at: now,
      };
      await tx.access_requests.create({ data });
    });
    return { id };
  };
const open = asking('viewer', 'editor');

export const samples: Record<string, Sample> = {
  'access_requests.list': async () => ({}),
  'access_requests.create': async (ctx) => {
    // An Owner has nothing to ask for.
    if (ctx.actor.type === 'member') Object.assign(ctx.actor, { role: 'viewer' });
    return { wants: 'editor', reason: 'To mend the payments route' };
  },
  'access_requests.decide': async (ctx) => ({ ...(await open(ctx)), approve: false }),
};

export const confirmedSamples: Record<string, Sample> = {
  'access_requests.decide': async (ctx) => ({ ...(await asking('editor', 'reveal_secrets')(await asMember(ctx))), approve: true }),
};
export const freeSamples: Record<string, Sample> = {
  'access_requests.decide': async (ctx) => ({ ...(await open(await asMember(ctx))), approve: true }),
};
export const grantless = { 'access_requests.create': 'asks for a role, which somebody else gives' };

export const peopleOnly = Object.keys(samples);
export const ofWorkspace = true;
