import { type ActionScope, confirmationOf, type StepUp, type StepUpDigest } from './action-scopes.ts';
import type { Ctx } from './context.ts';
import { Refusal } from './errors.ts';
import type { SignedInCtx } from './person.ts';
import type { Db, Tx } from './tx.ts';

/**
 * Uses up the verification that the call needs, once, in the transaction of the change: a rollback gives it back. `mutate` calls it before the work; verbs of
 * a person call it themselves. Does nothing for a call that needs none. @throws Refusal step_up_required
 */
export async function takeStepUp(tx: Tx, ctx: Ctx | SignedInCtx): Promise<void> {
  if (ctx.step_up && !ctx.step_up.by_verb) await useUp(tx, ctx, ctx.step_up);
}

async function useUp(tx: Tx, ctx: Ctx | SignedInCtx, step_up: StepUp): Promise<void> {
  if (step_up.used) return;
  const used = await useVerification(tx, { ...callerOf(ctx), ...step_up, request_id: ctx.request_id, now: ctx.now });
  if (!used) throw stepUpRequired(step_up.scope);
  step_up.used = used;
}

/**
 * For a verb whose row says `by_verb`: this change needs the confirmation of `scope`, or of the only one that the row names. One confirmation is enough for a
 * call, whichever rules ask for one. Call it before anything is written. Machines are never asked. @throws Refusal mfa_required, step_up_required
 */
export async function confirmChange(tx: Tx, ctx: Ctx, adminUrl: string, scope?: ActionScope): Promise<void> {
  // What a rolled back attempt had used is null again, so the next attempt uses it up once more.
  if (!ctx.step_up?.by_verb || ctx.step_up.used) return;
  if (scope && !ctx.step_up.by_verb.includes(scope)) throw new Error(`the row does not say that its verb may ask for ${scope}`);
  ctx.step_up.scope = scope ?? ctx.step_up.scope;
  if (!(await hasFactor(tx, callerOf(ctx).user_id))) throw mfaRequired(adminUrl);
  await useUp(tx, ctx, ctx.step_up);
}

export type VerificationWanted = {
  user_id: string;
  session_id: string;
  tenant_id: string | null;
  scope: ActionScope;
  /** Of X-Svc-StepUp; null takes the oldest verification that fits. */
  token_digest: StepUpDigest | null;
  request_id: string;
  now: Date;
};

/** Uses up one verification and says which; null when none fits. */
export async function useVerification(tx: Tx, wanted: VerificationWanted): Promise<StepUp['used']> {
  const { user_id, session_id, tenant_id, scope, token_digest, request_id, now } = wanted;
  const [row] = await tx.$queryRaw<NonNullable<StepUp['used']>[]>`
    select id::text as verification_id, method from take_step_up(${user_id}::uuid, ${session_id}::uuid, ${tenant_id}::uuid, ${scope}, ${token_digest}::bytea,
      ${request_id || null}, ${now}::timestamptz)`;
  return row ?? null;
}

/** Whether the person has an authenticator app, a passkey or a security key. Works inside row-level security too. */
export async function hasFactor(tx: Db | Tx, userId: string): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ enrolled: boolean }[]>`select has_factor(${userId}::uuid) as enrolled`;
  return row?.enrolled ?? false;
}

/** What opens the dialog: the person confirms and the call is made again (interface rule 22 §1). */
export const stepUpRequired = (scope: ActionScope): Refusal =>
  new Refusal('step_up_required', confirmationOf(scope), {
    extra: { requires_step_up: true, action_scope: scope, allowed_methods: ['passkey', '2fa'] },
  });

/** The account has nothing to confirm with. `adminUrl` is that of the dashboard. */
export const mfaRequired = (adminUrl: string): Refusal =>
  new Refusal('mfa_required', 'This requires a second factor. Add a passkey or an authenticator app to your account, then try again.', {
    extra: { enroll_url: `${adminUrl}/me/security` },
  });

function callerOf(ctx: Ctx | SignedInCtx): Pick<VerificationWanted, 'user_id' | 'session_id' | 'tenant_id'> {
  if ('user' in ctx) return { user_id: ctx.user.id, session_id: ctx.session.id, tenant_id: null };
  if (ctx.actor.type !== 'member') throw new Error('only people confirm who they are');
  return { user_id: ctx.actor.id, session_id: ctx.actor.session_id, tenant_id: ctx.tenant_id };
}
