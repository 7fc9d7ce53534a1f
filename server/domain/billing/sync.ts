import { Prisma } from '#server/generated/prisma/client.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { driver } from './driver.ts';
import { isSuspended, after as later, MOST_PAUSED_DAYS, type Move } from './machine.ts';
import type { Standing } from './payments.ts';
import { type Billed, entryOf, lockSubscription, move } from './transitions.ts';

/**
 * Brings a workspace to where the provider says that it stands now. Events only say that something happened: what happened is read, so events that come
 * late, twice or out of order change nothing. @returns whether the subscription moved
 */
export async function syncBilling(db: Db, tenantId: string, now: Date): Promise<boolean> {
  const payments = await driver();
  const [account] = await db.billing_accounts.updateManyAndReturn({
    where: { tenant_id: tenantId, customer_id: { not: null } },
    data: { sync_started: { increment: 1 } },
  });
  if (!payments || !account?.customer_id) return false;
  const standing = await payments.standing(account.customer_id, account.subscription_id);
  return db.$transaction((tx) => apply(tx, db, { tenantId, read: account.sync_started, standing, now }));
}

type Read = { tenantId: string; read: number; standing: Standing; now: Date };

/** A read that began before the one that was applied last is dropped: what it missed has an event of its own. */
async function apply(tx: Tx, db: Db, { tenantId, read, standing, now }: Read): Promise<boolean> {
  const before = await lockIfThere(tx, tenantId);
  if (!before) return false;
  const { subscription } = standing;
  const { count } = await tx.billing_accounts.updateMany({
    where: { tenant_id: tenantId, sync_applied: { lt: read } },
    data: {
      sync_applied: read,
      payment_method: standing.payment_method ?? Prisma.DbNull,
      ...(subscription?.state === 'ended' ? { subscription_id: null, interval: null } : {}),
      ...(subscription && subscription.state !== 'ended' ? { subscription_id: subscription.id, interval: subscription.interval } : {}),
    },
  });
  if (count === 0) return false;
  let now_at = before;
  let told = false;
  const ctx = systemContext(db, { tenant_id: tenantId, now, label: 'payment provider' });
  for (const step of steps(before, subscription, now)) {
    const result = await move(tx, now_at, step, { now, reason: `provider: ${step.event}` });
    if (!result) continue;
    if (JSON.stringify(factsOf(now_at)) !== JSON.stringify(factsOf(result.after))) {
      await writeAudit(tx, ctx, entryOf(now_at, result.after, `provider: ${step.event}`));
      told = true;
    }
    now_at = result.after;
  }
  return told;
}

const factsOf = ({ subscription_plan, subscription_status, subscription_cancel_at }: Billed) => [
  subscription_plan,
  subscription_status,
  subscription_cancel_at,
];

/** The moves from where the workspace stands to what the provider says. */
function steps(s: Billed, subscription: Standing['subscription'], now: Date): Move[] {
  if (!subscription) return [];
  if (subscription.state === 'ended') return [{ event: 'ended' }];
  const { state, period, cancel_at, paused_until } = subscription;
  const plan = subscription.plan ?? s.subscription_plan;
  const paid: Move = {
    event: s.subscription_status === 'dunning' || s.subscription_status === 'past_due' ? 'payment_succeeded' : 'checkout_completed',
    plan,
    period,
  };
  const schedule: Move[] =
    cancel_at && !s.subscription_cancel_at
      ? [{ event: 'cancellation_scheduled', at: cancel_at }]
      : !cancel_at && s.subscription_cancel_at && s.subscription_status !== 'cancelled'
        ? [{ event: 'cancellation_withdrawn' }]
        : [];
  switch (state) {
    case 'paid':
      return [paid, ...schedule];
    case 'failing':
      return [{ event: 'payment_failed' }, ...schedule];
    case 'unpaid':
      return [{ event: 'payment_failed' }, { event: 'dunning_ended' }];
    case 'paused':
      if (isSuspended(s) || s.subscription_status === 'paused') return [];
      return [paid, { event: 'paused', until: paused_until ?? later(now, MOST_PAUSED_DAYS) }];
  }
}

const lockIfThere = (tx: Tx, tenantId: string) => lockSubscription(tx, tenantId).catch(() => null);
