import { randomBuffer } from '#server/crypto/random.ts';
import { mintToken } from '#server/crypto/tokens.ts';
import { totpCode, totpStep } from '#server/crypto/totp.ts';
import { sealSeed } from '#server/domain/factors/seeds.ts';
import { createSession } from '#server/domain/people/service.ts';
import { ACTION_SCOPES, type ActionScope, scopeFor } from '#server/kernel/action-scopes.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { hasFactor } from '#server/kernel/step-up.ts';
import { db } from '#server/platform/db.ts';
import type { Workspace } from './workspace.ts';

export type Confirming = { user_id: string; session_id: string };

/** An authenticator app for the person; `code` is what it shows then. */
export async function enrolled(userId: string) {
  const id = newId();
  const seed = randomBuffer(20);
  const now = new Date();
  await db().totp_secrets.create({
    data: { id, user_id: userId, ...sealSeed(id, seed), last_step: 0, enabled_at: now, created_at: now },
  });
  return { seed, code: (at = new Date()) => totpCode(seed, totpStep(at)) };
}

/**
 * A verification as the person's authenticator would make it, unused, of a person who has a factor. An acting member whom a test made up becomes a real person
 * with a real session. Answers the token for X-Svc-StepUp, which calls may leave out.
 */
export async function verified(who: Confirming | Ctx, scope: ActionScope, { now = new Date() } = {}): Promise<string> {
  const { user_id, session_id } = 'actor' in who ? await asPerson(who) : who;
  if (!(await hasFactor(db(), user_id))) await enrolled(user_id);
  const { token, digest } = mintToken('step_up');
  await db().step_up_verifications.create({
    data: {
      id: newId(),
      user_id,
      session_id,
      action_scope: scope,
      method: 'totp',
      token_digest: new Uint8Array(digest),
      verified_at: now,
      expires_at: new Date(now.getTime() + ACTION_SCOPES[scope].window_sec * 1000),
    },
  });
  return token;
}

/** Confirms a call of a member in advance, if its operation asks for that. */
export async function confirm(op: AnyOperation, ctx: Ctx, input: unknown): Promise<void> {
  const scope = ctx.actor.type === 'member' ? scopeFor(op.step_up, input) : undefined;
  if (scope) await verified(ctx, scope);
}

/** An Owner who has confirmed one use of the scope. */
export async function confirmedOwner(w: Pick<Workspace, 'member'>, scope: ActionScope, space: Space = 'live'): Promise<Ctx> {
  const ctx = w.member('owner', space);
  await verified(ctx, scope);
  return ctx;
}

/** A sign-in of five days before. */
export const daysAgo = (now = new Date()): Date => new Date(now.getTime() - 5 * 86_400_000);

/** An acting member whose session is five days old. */
export const signedInLongAgo = (ctx: Ctx): Ctx => ({ ...ctx, actor: { ...ctx.actor, signed_in_at: daysAgo(ctx.now) } as Ctx['actor'] });

/** The session becomes one of five days. */
export const ageSession = (session_id: string) => db().sessions.update({ where: { id: session_id }, data: { created_at: daysAgo() } });

/** The rows behind an acting member. */
export async function asPerson({ actor, now }: Ctx): Promise<Confirming> {
  if (actor.type !== 'member') throw new Error('only people confirm who they are');
  const { id, session_id } = actor;
  await db().users.upsert({ where: { id }, create: { id, email: `${id}@example.test`, full_name: 'M' }, update: {} });
  if (!(await db().sessions.findUnique({ where: { id: session_id }, select: { id: true } })))
    await db().$transaction(async (tx) => {
      const made = await createSession(tx, { user_id: id, methods: ['password'], keep: false, ip: null, user_agent: null, now });
      await tx.sessions.update({ where: { id: made.id }, data: { id: session_id } });
    });
  return { user_id: id, session_id };
}

/** The caller of a row whose verb may ask for these, who has confirmed the first: for tests that call the verb itself. */
export async function confirming(ctx: Ctx, scope: ActionScope, ...others: ActionScope[]): Promise<Ctx> {
  await verified(ctx, scope);
  return { ...ctx, step_up: { scope, token_digest: null, used: null, by_verb: [scope, ...others] } };
}
