import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { mfaRequired } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { driver, offers } from './driver.ts';
import { isSuspended } from './machine.ts';
import type { Driver, Interval, PaidPlan } from './payments.ts';
import type { Checkout } from './schema.ts';
import { syncBilling } from './sync.ts';
import { type Billed, billingUrl, lockSubscription, move } from './transitions.ts';
import { getBilling } from './view.ts';

/** How long one checkout is offered again; Stripe's own pages live for a day. */
const CHECKOUT_MS = 23 * 3_600_000;

/**
 * Brings the workspace to a plan: the provider's payment page for a first subscription, a change of the one there is, or the return of a canceled
 * workspace to Free. @throws Refusal conflict, validation_error, mfa_required for a change without a factor, dependency_unavailable
 */
export async function checkout(ctx: Ctx, input: z.output<typeof Checkout>) {
  if (input.plan === 'free') return returnToFree(ctx);
  const payments = await driver();
  if (!payments)
    throw new Refusal(
      'conflict',
      `This installation doesn't take payments. Ask its operator to move the workspace to the ${input.plan} plan.`,
    );
  const { plan, interval } = { ...input, plan: input.plan };
  if (!offers().some((offer) => offer.plan === plan && offer.interval === interval))
    throw invalid('plan', `${plan} can't be bought by the ${interval} here`);
  const begun = await mutate(ctx, (tx) => begin(tx, ctx, plan, interval));
  if (begun.subscription_id) {
    await payments.changePlan(begun.subscription_id, plan, interval, ctx.request_id || newId());
    await syncBilling(ctx.db, ctx.tenant_id, ctx.now);
    return { url: null, billing: await getBilling(ctx) };
  }
  return { url: await pageFor(payments, ctx, begun, plan, interval), billing: await getBilling(ctx) };
}

type Begun = { workspace: Billed; subscription_id: string | null; customer_id: string | null; key: string; replaces: string | null };

/** Under the lock of the workspace: two requests for the same plan share one checkout, one for another plan replaces it. */
async function begin(tx: Tx, ctx: Ctx, plan: PaidPlan, interval: Interval) {
  const workspace = await lockSubscription(tx, ctx.tenant_id);
  if (isSuspended(workspace)) throw new Refusal('conflict', 'The operator has suspended this workspace. Contact them first.');
  const account = await tx.billing_accounts.findUnique({ where: { tenant_id: ctx.tenant_id } });
  const subscription_id = account?.subscription_id ?? null;
  if (subscription_id && !ctx.step_up && ctx.actor.type === 'member') throw mfaRequired(env.PUBLIC_ADMIN_URL);
  if (subscription_id && workspace.subscription_plan === plan && account?.interval === interval)
    throw new Refusal('conflict', `The workspace is on the ${plan} plan already.`);
  const wanted = `${plan}:${interval}`;
  const open =
    account?.checkout_key && account.checkout_at && ctx.now.getTime() - account.checkout_at.getTime() < CHECKOUT_MS ? account : null;
  const same = open?.checkout_for === wanted;
  const key = same ? (open.checkout_key as string) : newId();
  const fields = same ? {} : { checkout_key: key, checkout_for: wanted, checkout_at: ctx.now, checkout_session: null };
  await tx.billing_accounts.upsert({
    where: { tenant_id: ctx.tenant_id },
    create: { tenant_id: ctx.tenant_id, ...fields },
    update: fields,
  });
  const begun: Begun = {
    workspace,
    subscription_id,
    customer_id: account?.customer_id ?? null,
    key,
    replaces: same ? null : (open?.checkout_session ?? null),
  };
  return audited(begun, {
    action: 'update',
    resource_type: 'billing',
    resource_id: ctx.tenant_id,
    name: workspace.name,
    details: { requested: subscription_id ? 'plan_change' : 'checkout', plan, interval },
    workspace_level: true,
  });
}

async function pageFor(payments: Driver, ctx: Ctx, begun: Begun, plan: PaidPlan, interval: Interval): Promise<string> {
  const { workspace, key, replaces } = begun;
  const customer = begun.customer_id ?? (await firstCustomer(payments, ctx, workspace));
  const page = await payments.checkout({ key, customer, tenant_id: ctx.tenant_id, plan, interval, backTo: billingUrl(workspace.slug) });
  if (replaces && replaces !== page.id) await payments.expireCheckout(replaces);
  const { count } = await ctx.db.billing_accounts.updateMany({
    where: { tenant_id: ctx.tenant_id, checkout_key: key },
    data: { checkout_session: page.id },
  });
  if (count > 0) return page.url;
  // Somebody chose another plan meanwhile: of two open pages only theirs may be paid.
  await payments.expireCheckout(page.id);
  throw new Refusal('conflict', 'Another checkout was started for this workspace. Reload the page and continue with that one.');
}

/** Idempotent by the workspace, also at the provider. */
async function firstCustomer(payments: Driver, ctx: Ctx, { id, name }: Billed): Promise<string> {
  const customer = await payments.customer({ id, name, email: ctx.actor.type === 'member' ? ctx.actor.label : null });
  await ctx.db.billing_accounts.updateMany({ where: { tenant_id: id, customer_id: null }, data: { customer_id: customer } });
  return customer;
}

async function returnToFree(ctx: Ctx) {
  await mutate(ctx, async (tx) => {
    const result = await move(
      tx,
      await lockSubscription(tx, ctx.tenant_id),
      { event: 'returned_to_free' },
      { now: ctx.now, reason: 'owner' },
    );
    if (!result) throw new Refusal('conflict', 'Only a canceled workspace can return to Free. Cancel the subscription first.');
    return audited(undefined, result.entry);
  });
  return { url: null, billing: await getBilling(ctx) };
}
