import { TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import { addMembership } from '#server/domain/people/service.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import type { Actor, Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { made } from '#server/testing/factories.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { asPerson, verified } from '#server/testing/step-up.ts';
import { tokenActor } from '#server/testing/workspace.ts';

/** The acting member of a test becomes one of its workspace, with an account and a session. */
export async function asMember(ctx: Ctx): Promise<Ctx> {
  const { user_id } = await asPerson(ctx);
  if (ctx.actor.type !== 'member') throw new Error('a member acts');
  const found = await db().memberships.findFirst({ where: { tenant_id: ctx.tenant_id, user_id, removed_at: null } });
  if (!found) await joined(ctx.tenant_id, user_id, ctx.actor.role);
  return ctx;
}

/** A further member. */
export async function colleague(ctx: Pick<Ctx, 'tenant_id'>, role: MemberRole = 'viewer'): Promise<{ id: string; email: string }> {
  const id = newId();
  const email = `${id}@example.test`;
  await db().users.create({ data: { id, email, full_name: role, email_verified_at: new Date() } });
  await joined(ctx.tenant_id, id, role);
  return { id, email };
}

const joined = (tenant_id: string, user_id: string, role: MemberRole) =>
  db().$transaction((tx) => addMembership(tx, { tenant_id, user_id, role, source: 'invite', now: new Date() }));

/** The token of the newest invitation mailed to an address. */
export async function tokenMailedTo(email: string): Promise<string> {
  const mail = (await mailsTo(email)).filter(({ kind }) => kind === 'invitation').at(-1);
  const token = /invitation\?token=([\w-]{43})/.exec(mail?.text ?? '')?.[1];
  if (!token) throw new Error(`no invitation was mailed to ${email}`);
  return token;
}

/** A client with a secret, and an actor with a token of it. */
export async function sharedClient(maker: Ctx) {
  await verified(maker, 'oauth.client');
  const { client_id } = await made(maker, 'oauth_clients.create', {
    ...{ name: 'Shared', type: 'confidential', allowed_scopes: ['api_keys:write', 'routes:read'] },
    grant_types: ['client_credentials', TOKEN_EXCHANGE],
  });
  const { id } = await db().oauth_clients.findFirstOrThrow({ where: { client_id } });
  return { id, actor: { ...tokenActor(), type: 'oauth_token', id, client_id } as Actor };
}
