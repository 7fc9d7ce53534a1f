import { type ActionScope, confirmationOf, type StepUp, type StepUpDigest, type UsedConfirmation } from './action-scopes.ts';
import type { Actor, Ctx } from './context.ts';
import { Refusal } from './errors.ts';
import type { SignedInCtx } from './person.ts';
import type { Db, Tx } from './tx.ts';

/**
 * Uses up the verification that the call needs, once, in the transaction of the change: a rollback gives it back. `mutate` calls it before the work; verbs of
 * a person call it themselves. Does nothing for a call that needs none. @throws Refusal step_up_required
 */
export async function takeStepUp(tx: Tx, ctx: Ctx | SignedInCtx): Promise<void> {
  if (ctx.step_up && !ctx.step_up.used && !ctx.step_up.by_verb) await take(tx, ctx, ctx.step_up);
}

async function take(tx: Tx, ctx: Ctx | SignedInCtx, step_up: StepUp): Promise<void> {
  if ('actor' in ctx && isPersonsToken(ctx.actor)) {
    step_up.used = confirmedLogin(ctx.actor, step_up.scope, ctx.now);
    return;
  }
  const used = await useVerification(tx, { ...callerOf(ctx), ...step_up, request_id: ctx.request_id, now: ctx.now });
  if (!used) throw stepUpRequired(step_up.scope);
  step_up.used = used;
}

/** How long a login counts as confirmed after the second factor (interface rule 21 §11). */
const STEP_UP_MS = 8 * 3_600_000;

/** Whether the second factor of a login still counts. */
export const isConfirmed = (step_up_at: Date | null, now: Date): boolean =>
  step_up_at !== null && now.getTime() - step_up_at.getTime() < STEP_UP_MS;

export type PersonsToken = Extract<Actor, { type: 'oauth_token' }> & { user_id: string };
/** An access token that acts for a person: it does what they may do, so it is asked what they are asked. */
export const isPersonsToken = (actor: Actor): actor is PersonsToken => actor.type === 'oauth_token' && actor.user_id !== null;

/**
 * What an access token of a person has instead of a verification: its login was confirmed with a second factor in the last 8 hours.
 * @throws Refusal step_up_required, which says how to get such a login
 */
export function confirmedLogin({ family_id, step_up_at }: PersonsToken, scope: ActionScope, now: Date): UsedConfirmation {
  if (step_up_at === null || !isConfirmed(step_up_at, now))
    throw new Refusal('step_up_required', `${confirmationOf(scope)} ${CONFIRM_LOGIN}`);
  return { oauth_family_id: family_id, confirmed_at: step_up_at.toISOString() };
}
const LOG_IN_CONFIRMED = 'run service-cli login --confirm, or start the login of your application again with acr_values=step_up';
const CONFIRM_LOGIN = `This login wasn't confirmed with a second factor in the last 8 hours. To confirm it, ${LOG_IN_CONFIRMED}.`;

/**
 * For a verb whose row says `by_verb`: this change needs the confirmation of `scope`, or of the only one that the row names. One confirmation is enough for a
 * call, whichever rules ask for one. Call it before anything is written. Machines are never asked. @throws Refusal mfa_required, step_up_required
 */
export async function confirmChange(tx: Tx, ctx: Ctx, adminUrl: string, scope?: ActionScope): Promise<void> {
  const { step_up } = ctx;
  if (!step_up?.by_verb || step_up.used) return;
  if (scope && !step_up.by_verb.includes(scope)) throw new Error(`the row does not say that its verb may ask for ${scope}`);
  step_up.scope = scope ?? step_up.scope;
  const token = isPersonsToken(ctx.actor) ? ctx.actor : undefined;
  await assertCanConfirm(tx, { user_id: token?.user_id ?? callerOf(ctx).user_id, token, now: ctx.now }, adminUrl);
  // A transaction that runs again after a conflict was given its verification back, and asks again.
  await take(tx, ctx, step_up);
}

/**
 * An account without a second factor is told to add one first: no confirmation, and no login that asks for one, can succeed before. A login that was
 * confirmed passes. @throws Refusal mfa_required
 */
export async function assertCanConfirm(
  tx: Db | Tx,
  { user_id, token, now }: { user_id: string; token?: PersonsToken | undefined; now: Date },
  adminUrl: string,
): Promise<void> {
  if (token && isConfirmed(token.step_up_at, now)) return;
  if (!(await hasFactor(tx, user_id))) throw mfaRequired(adminUrl, token ? 'login' : 'session');
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

type Verification = Extract<UsedConfirmation, { verification_id: string }>;

/** Uses up one verification and says which; null when none fits. */
export async function useVerification(tx: Tx, wanted: VerificationWanted): Promise<Verification | null> {
  const { user_id, session_id, tenant_id, scope, token_digest, request_id, now } = wanted;
  const [row] = await tx.$queryRaw<Verification[]>`
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

/** The account has nothing to confirm with. `adminUrl` is that of the dashboard; a `login` is one of service-cli or another application. */
export function mfaRequired(adminUrl: string, by: 'session' | 'login' = 'session'): Refusal {
  const enroll_url = `${adminUrl}/me/security`;
  const next =
    by === 'session'
      ? 'Add a passkey or an authenticator app to your account, then try again.'
      : `Add a passkey or an authenticator app to your account at ${enroll_url}, then ${LOG_IN_CONFIRMED}.`;
  return new Refusal('mfa_required', `This requires a second factor. ${next}`, { extra: { enroll_url } });
}

function callerOf(ctx: Ctx | SignedInCtx): Pick<VerificationWanted, 'user_id' | 'session_id' | 'tenant_id'> {
  if ('user' in ctx) return { user_id: ctx.user.id, session_id: ctx.session.id, tenant_id: null };
  if (ctx.actor.type !== 'member') throw new Error('only people confirm who they are');
  return { user_id: ctx.actor.id, session_id: ctx.actor.session_id, tenant_id: ctx.tenant_id };
}
