import { companyOf } from '#server/domain/tenants/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { env } from '#server/platform/env.ts';
import { offers } from './driver.ts';
import { after, DUNNING_DAYS, PAST_DUE_DAYS, type Subscription } from './machine.ts';
import type { Card, Interval } from './payments.ts';
import type { Billing } from './schema.ts';
import { COLUMNS } from './transitions.ts';

/** Plan, payment and invoices of the workspace. @throws Refusal not_found */
export const getBilling = (ctx: Ctx): Promise<Billing> => read(ctx, (tx) => billingOf(tx, ctx.tenant_id));

async function billingOf(tx: Tx, tenantId: string): Promise<Billing> {
  const row = (await tx.tenants.findUnique({ where: { id: tenantId }, select: COLUMNS })) as Subscription | null;
  if (!row) throw notFound();
  const account = await tx.billing_accounts.findUnique({ where: { tenant_id: tenantId } });
  const invoices = await tx.billing_invoices.findMany({ where: { tenant_id: tenantId }, orderBy: { issued_at: 'desc' }, take: 24 });
  return {
    driver: env.BILLING_DRIVER,
    plan: row.subscription_plan,
    status: row.subscription_status,
    paused_by: row.subscription_status === 'paused' ? (row.pause_reason === 'owner' ? 'owner' : 'operator') : null,
    paused_until: row.paused_until,
    // Both are written by `syncBilling` alone.
    interval: (account?.interval ?? null) as Interval | null,
    period: { start: row.subscription_current_period_start, end: row.subscription_current_period_end },
    cancel_at: row.subscription_cancel_at,
    trial: {
      available: row.subscription_plan === 'free' && row.subscription_status === 'active' && row.trial_start_at === null,
      start: row.trial_start_at,
      end: row.trial_end_at,
    },
    dunning: dunningOf(row),
    payment_method: (account?.payment_method ?? null) as Card | null,
    company: await companyOf(tx, tenantId),
    invoices: invoices.map(({ issued_at: date, ...invoice }) => ({ ...invoice, date })),
    offers: offers(),
  };
}

function dunningOf({ dunning_since, past_due_since, subscription_status }: Subscription): Billing['dunning'] {
  if (subscription_status === 'dunning' && dunning_since)
    return { stage: 'dunning', since: dunning_since, until: after(dunning_since, DUNNING_DAYS) };
  if (subscription_status === 'past_due' && past_due_since)
    return { stage: 'past_due', since: past_due_since, until: after(past_due_since, PAST_DUE_DAYS) };
  return null;
}
