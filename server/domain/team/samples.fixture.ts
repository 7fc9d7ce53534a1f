import { createSession } from '#server/domain/people/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { fresh, made, type Sample } from '#server/testing/factories.ts';
import type { PersonSample } from '#server/testing/test-person.ts';
import { workspace } from '#server/testing/workspace.ts';
import { asMember, colleague, tokenMailedTo } from './members.fixture.ts';

const nothing: Sample = async (ctx) => {
  await asMember(ctx);
  return {};
};
const member: Sample = async (ctx) => {
  await asMember(ctx);
  return { id: (await colleague(ctx)).id };
};
const invited: Sample = async (ctx) => {
  await asMember(ctx);
  return { email: `${fresh('guest')}@example.test`, role: 'editor', reveal_secrets: true };
};
const invitation: Sample = async (ctx) => ({
  id: (await made(ctx, 'team.invite', { ...(await invited(ctx)), reveal_secrets: false })).id,
});
/** One that somebody else sent, and confirmed. */
const invitationOf = async (ctx: Ctx, values: { role: string; reveal_secrets: boolean }) => {
  const { id } = await invitation(ctx);
  await db().invitations.update({ where: { id: String(id) }, data: values });
  return { id };
};

export const samples: Record<string, Sample> = {
  'team.list': nothing,
  'team.get': member,
  // A role that takes a step-up.
  'team.update': async (ctx) => ({ ...(await member(ctx)), role: 'admin' }),
  'team.delete': member,
  'team.impact': member,
  'team.end_sessions': async (ctx) => {
    const { id } = await member(ctx);
    const session = { user_id: String(id), scope_tenant_id: ctx.tenant_id };
    await openSession(session);
    return { id };
  },
  'team.transfer_ownership': member,
  'team.export': nothing,
  'team.invitations': nothing,
  'team.invite': async (ctx) => ({ ...(await invited(ctx)), role: 'admin', reveal_secrets: false }),
  'team.resend_invitation': invitation,
  'team.revoke_invitation': invitation,
};

/** Of another workspace than the person's own. */
const invitedPerson: PersonSample = async ({ email }) => {
  const w = await workspace();
  await made(await asMember(w.member('owner')), 'team.invite', { email, role: 'viewer' });
  return { token: await tokenMailedTo(email) };
};

export const personSamples: Record<string, PersonSample> = {
  'auth.invitations.get': invitedPerson,
  'auth.invitations.accept': invitedPerson,
  'auth.invitations.sign_up': async () => {
    const email = `${fresh('newcomer')}@example.test`;
    await made(await asMember((await workspace()).member('owner')), 'team.invite', { email, role: 'viewer' });
    return { token: await tokenMailedTo(email), full_name: 'New Colleague', password: 'a quiet harbour at dusk' };
  },
};

export const confirmedSamples: Record<string, Sample> = {
  'team.update capability.grant': async (ctx) => ({ ...(await member(ctx)), role: 'editor', reveal_secrets: true }),
  'team.invite capability.grant': invited,
  'team.resend_invitation': async (ctx) => invitationOf(ctx, { role: 'admin', reveal_secrets: false }),
  'team.resend_invitation capability.grant': async (ctx) => invitationOf(ctx, { role: 'editor', reveal_secrets: true }),
};

export const freeSamples: Record<string, Sample> = {
  'team.update': async (ctx) => ({ ...(await member(ctx)), role: 'editor' }),
  'team.invite': async (ctx) => ({ ...(await invited(ctx)), reveal_secrets: false }),
  'team.resend_invitation': invitation,
};

export const harmless = {
  // Each of them is a grant, and asks as one.
  'team.update': ['role', 'reveal_secrets', 'migration_reviewer'],
};

export const unaudited = {
  'auth.invitations.accept': 'audited in the workspace that is joined',
  'auth.invitations.sign_up': 'audited in the workspace that is joined',
};

export const peopleOnly = Object.keys(samples);
/** Role and flags are few and sent one by one: the last choice wins, and the audit log has both. */
export const unguardedEdits = ['team.update'];
export const ofWorkspace = true;

const openSession = (session: { user_id: string; scope_tenant_id: string }) =>
  db().$transaction((tx) => createSession(tx, { ...session, methods: ['code'], keep: false, ip: null, user_agent: null, now: new Date() }));
