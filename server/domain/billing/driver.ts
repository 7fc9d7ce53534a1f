import { env } from '#server/platform/env.ts';
import type { Driver, Interval, PaidPlan } from './payments.ts';

/** What can be bought here. */
export const offers = (): { plan: PaidPlan; interval: Interval }[] =>
  env.BILLING_DRIVER === 'stripe' ? (env.STRIPE_PRICES ?? []).map(({ plan, interval }) => ({ plan, interval })) : [];

/** The driver of this deployment; null for `manual`, where the operator sets plans and there is nobody to talk to. */
export async function driver(): Promise<Driver | null> {
  if (env.BILLING_DRIVER !== 'stripe') return null;
  return (await import('./stripe.ts')).stripeDriver;
}
