import type { z } from 'zod';
import { updateCompany } from '#server/domain/tenants/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Db } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { hasFactor, mfaRequired } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { driver } from './driver.ts';
import { after, isSuspended, type Move, moved } from './machine.ts';
import type { Driver } from './payments.ts';
import type { Pause, UpdateTaxId } from './schema.ts';
import { syncBilling } from './sync.ts';
import { type Billed, billingUrl, lockSubscription, move } from './transitions.ts';
import { getBilling } from './view.ts';

export { checkout } from './checkout.ts';
export { STATUSES, type Status, trialFrom } from './machine.ts';
export { syncBilling } from './sync.ts';
export { getBilling } from './view.ts';
export { pruneBillingEvents, receiveStripeEvent } from './webhook.ts';

/**
 * The tax ID of the selected workspace; both null clears it. The order of checks is that of PATCH /auth/me (interface rule 22 §6), whose role and session
 * scope the plane has judged already. @throws Refusal mfa_required, invalid
 */
export async function updateTaxId(ctx: Ctx, input: z.output<typeof UpdateTaxId>) {
  await mutate(ctx, async (tx) => {
    if (ctx.actor.type !== 'member' || !(await hasFactor(tx, ctx.actor.id))) throw mfaRequired(env.PUBLIC_ADMIN_URL);
    if (input.tax_id_type === undefined || input.tax_id_value === undefined)
      throw new Refusal('invalid', 'Invalid tenant address: tax_id_type and tax_id_value are both required; null clears them');
    const entry = await updateCompany(tx, ctx.tenant_id, input, ctx.now);
    return entry ? audited(undefined, entry) : unchanged(undefined);
  });
  return getBilling(ctx);
}

/** The provider's page for payment methods and invoices. @throws Refusal conflict, dependency_unavailable */
export async function openPortal(ctx: Ctx) {
  const payments = await driver();
  const account = await ctx.db.billing_accounts.findUnique({
    where: { tenant_id: ctx.tenant_id },
    select: { customer_id: true, tenant: { select: { slug: true } } },
  });
  if (!payments || !account?.customer_id)
    throw new Refusal('conflict', 'There is nothing to manage yet: no plan was bought for this workspace.');
  await mutate(ctx, async () =>
    audited(undefined, {
      action: 'update',
      resource_type: 'billing',
      resource_id: ctx.tenant_id,
      details: { requested: 'portal' },
      workspace_level: true,
    }),
  );
  return { url: await payments.portal(account.customer_id, billingUrl(account.tenant.slug)) };
}

/** Two weeks of the pro plan, once per workspace. @throws Refusal conflict */
export const startTrial = (ctx: Ctx) =>
  change(ctx, () => ({ event: 'trial_started' }), {
    refusal: 'A trial starts from the Free plan, once per workspace.',
  });

/** Schedules the end for the end of the paid period; until then it can be undone. @throws Refusal conflict, dependency_unavailable */
export const cancel = (ctx: Ctx) =>
  change(ctx, (s) => ({ event: 'cancellation_scheduled', at: s.subscription_current_period_end ?? endOfMonth(ctx.now) }), {
    refusal: 'Only an active paid subscription that isn’t canceled yet can be canceled.',
    provider: (payments, id, key) => payments.scheduleCancel(id, true, key),
  });

/** Undoes a scheduled cancellation, or ends a pause of the Owner's. @throws Refusal conflict, dependency_unavailable */
export const resume = (ctx: Ctx) =>
  change(ctx, (s) => ({ event: s.subscription_status === 'paused' ? 'resumed' : 'cancellation_withdrawn' }), {
    refusal: (s) =>
      isSuspended(s)
        ? 'The operator has suspended this workspace. Only they can resume it.'
        : 'There is nothing to resume: the subscription is neither paused nor about to end.',
    provider: (payments, id, key, s) =>
      s.subscription_status === 'paused' ? payments.pause(id, null, key) : payments.scheduleCancel(id, false, key),
  });

/** Stops billing and the service for at most 90 days. @throws Refusal conflict, dependency_unavailable */
export const pause = (ctx: Ctx, { days }: z.output<typeof Pause>) => {
  const until = after(ctx.now, days);
  return change(ctx, () => ({ event: 'paused', until }), {
    refusal: 'Only an active paid subscription can be paused.',
    provider: (payments, id, key) => payments.pause(id, until, key),
  });
};

type Change = {
  refusal: string | ((s: Billed) => string);
  provider?: (payments: Driver, subscription: string, key: string, s: Billed) => Promise<void>;
};

/**
 * One move by the Owner. Where the provider holds the subscription, it is asked after the commit that records the wish, and the state follows from what it
 * says then: this service never shows a state that the provider doesn't know.
 */
async function change(ctx: Ctx, moveOf: (s: Billed) => Move, { refusal, provider }: Change) {
  const payments = provider ? await driver() : null;
  const by = ctx.actor.label;
  const asked = await mutate(ctx, async (tx) => {
    const before = await lockSubscription(tx, ctx.tenant_id);
    const account = payments && (await tx.billing_accounts.findUnique({ where: { tenant_id: ctx.tenant_id } }));
    const what = moveOf(before);
    const possible = await (account?.subscription_id
      ? moved(ctx.now, before, what) !== null
      : move(tx, before, what, { now: ctx.now, reason: 'owner', by }));
    if (!possible) throw new Refusal('conflict', typeof refusal === 'string' ? refusal : refusal(before));
    if (possible !== true) return audited(null, possible.entry);
    return audited(
      { before, subscription_id: account?.subscription_id as string },
      {
        action: 'update',
        resource_type: 'billing',
        resource_id: ctx.tenant_id,
        name: before.name,
        details: { requested: what.event },
        workspace_level: true,
      },
    );
  });
  if (asked && payments && provider) {
    await provider(payments, asked.subscription_id, ctx.request_id || newId(), asked.before);
    await syncBilling(ctx.db, ctx.tenant_id, ctx.now);
  }
  return getBilling(ctx);
}

/** Usage is counted by calendar month, so an unbilled plan ends with one. */
const endOfMonth = (now: Date) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));

/** Tries a failed payment again. */
export async function retryPayment(db: Db, tenantId: string, now: Date): Promise<boolean> {
  const [payments, account] = [await driver(), await db.billing_accounts.findUnique({ where: { tenant_id: tenantId } })];
  if (!payments || !account?.subscription_id) return false;
  await payments.retryPayment(account.subscription_id);
  return syncBilling(db, tenantId, now);
}

/** Ends the subscription at the provider, at once: the workspace is gone, or was written off. */
export async function endProviderSubscription(db: Db, tenantId: string): Promise<boolean> {
  const [payments, account] = [await driver(), await db.billing_accounts.findUnique({ where: { tenant_id: tenantId } })];
  if (!payments || !account?.subscription_id) return false;
  await payments.end(account.subscription_id);
  await db.billing_accounts.update({ where: { tenant_id: tenantId }, data: { subscription_id: null, interval: null } });
  return true;
}

/** Of a deleted workspace: what is paid for runs out. An Owner who restores it may undo this too. */
export async function stopRenewal(db: Db, tenantId: string): Promise<boolean> {
  const [payments, account] = [await driver(), await db.billing_accounts.findUnique({ where: { tenant_id: tenantId } })];
  if (!payments || !account?.subscription_id) return false;
  await payments.scheduleCancel(account.subscription_id, true, newId());
  return true;
}
