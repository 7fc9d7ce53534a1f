import Stripe from 'stripe';
import { Refusal } from '#server/kernel/errors.ts';
import { env } from '#server/platform/env.ts';
import { log } from '#server/platform/log.ts';
import { stripe } from '#server/platform/stripe.ts';
import type { Card, Driver, Interval, PaidPlan, Standing } from './payments.ts';

/** Stripe as the payment provider: Checkout, the customer portal and subscriptions. */
export const stripeDriver: Driver = {
  customer: ({ id, name, email }) =>
    asked(async () => {
      const params = { name, ...(email ? { email } : {}), metadata: { tenant_id: id } };
      return (await stripe().customers.create(params, { idempotencyKey: `customer-${id}` })).id;
    }),
  checkout: ({ key, customer, tenant_id, plan, interval, backTo }) =>
    asked(async () => {
      const session = await stripe().checkout.sessions.create(
        {
          mode: 'subscription',
          customer,
          client_reference_id: tenant_id,
          line_items: [{ price: priceOf(plan, interval), quantity: 1 }],
          subscription_data: { metadata: { tenant_id, plan } },
          success_url: `${backTo}?checkout=done`,
          cancel_url: backTo,
        },
        { idempotencyKey: `checkout-${key}` },
      );
      if (!session.url) throw new Error('Stripe made a checkout session without a page');
      return { id: session.id, url: session.url };
    }),
  // It may have been paid or have expired meanwhile; then there is nothing to expire.
  expireCheckout: async (session) => {
    await stripe()
      .checkout.sessions.expire(session)
      .catch((error: unknown) => log.info({ err: error }, 'a replaced checkout session could not be expired'));
  },
  portal: (customer, backTo) => asked(async () => (await stripe().billingPortal.sessions.create({ customer, return_url: backTo })).url),
  changePlan: (subscription, plan, interval, key) =>
    asked(async () => {
      const { items } = await stripe().subscriptions.retrieve(subscription);
      const [item] = items.data;
      if (!item) throw new Error('a subscription of Stripe has no item');
      const params = {
        items: [{ id: item.id, price: priceOf(plan, interval) }],
        proration_behavior: 'create_prorations' as const,
        metadata: { plan },
      };
      await stripe().subscriptions.update(subscription, params, { idempotencyKey: `plan-${key}` });
    }),
  scheduleCancel: (subscription, scheduled, key) =>
    asked(async () => {
      await stripe().subscriptions.update(subscription, { cancel_at_period_end: scheduled }, { idempotencyKey: `cancel-${key}` });
    }),
  pause: (subscription, until, key) =>
    asked(async () => {
      const pause_collection = until ? ({ behavior: 'void', resumes_at: Math.floor(until.getTime() / 1000) } as const) : '';
      await stripe().subscriptions.update(subscription, { pause_collection }, { idempotencyKey: `pause-${key}` });
    }),
  end: (subscription) => asked(async () => void (await stripe().subscriptions.cancel(subscription, { prorate: true }))).catch(unlessGone),
  retryPayment: (subscription) =>
    asked(async () => {
      const { data } = await stripe().invoices.list({ subscription, status: 'open', limit: 1 });
      const [open] = data;
      if (open?.id) await stripe().invoices.pay(open.id).catch(unlessDeclined);
    }),
  standing: (customer, recorded) => asked(() => standing(customer, recorded)),
};

const LIVE: ReadonlySet<string> = new Set(['active', 'trialing', 'past_due', 'unpaid']);

async function standing(customer: string, recorded: string | null): Promise<Standing> {
  const { data } = await stripe().subscriptions.list({ customer, status: 'all', limit: 100, expand: ['data.default_payment_method'] });
  const [newest, ...extra] = data.filter(({ status }) => LIVE.has(status)).sort((a, b) => b.created - a.created);
  // Two tabs may have paid for two plans: the later choice counts, and the earlier is paid back in part.
  for (const { id } of extra) await stripe().subscriptions.cancel(id, { prorate: true }).catch(unlessGone);
  const payment_method = cardOf(newest?.default_payment_method) ?? (await customerCard(customer));
  if (!newest) {
    const ours = data.find(({ id }) => id === recorded);
    return { payment_method, subscription: ours && ours.status !== 'incomplete' ? { id: ours.id, state: 'ended' } : null };
  }
  const item = newest.items.data[0];
  const price = env.STRIPE_PRICES?.find(({ id }) => id === item?.price.id);
  if (!price) log.warn({ subscription: newest.id, price: item?.price.id }, 'a subscription has a price that STRIPE_PRICES does not name');
  return {
    payment_method,
    subscription: {
      id: newest.id,
      state: newest.pause_collection ? 'paused' : newest.status === 'past_due' ? 'failing' : newest.status === 'unpaid' ? 'unpaid' : 'paid',
      plan: price?.plan ?? null,
      interval: price?.interval ?? null,
      period: { start: dateOf(item?.current_period_start), end: dateOf(item?.current_period_end) },
      cancel_at: dateOf(newest.cancel_at) ?? (newest.cancel_at_period_end ? dateOf(item?.current_period_end) : null),
      paused_until: dateOf(newest.pause_collection?.resumes_at),
    },
  };
}

async function customerCard(id: string): Promise<Card | null> {
  const customer = await stripe().customers.retrieve(id, { expand: ['invoice_settings.default_payment_method'] });
  return customer.deleted ? null : cardOf(customer.invoice_settings?.default_payment_method);
}

function cardOf(method: Stripe.PaymentMethod | string | null | undefined): Card | null {
  const card = typeof method === 'object' ? method?.card : undefined;
  return card ? { brand: card.brand, last4: card.last4, exp_month: card.exp_month, exp_year: card.exp_year } : null;
}

const dateOf = (seconds: number | null | undefined): Date | null => (seconds ? new Date(seconds * 1000) : null);

function priceOf(plan: PaidPlan, interval: Interval): string {
  const price = env.STRIPE_PRICES?.find((one) => one.plan === plan && one.interval === interval);
  if (!price) throw new Refusal('validation_error', `plan: ${plan} can't be bought by the ${interval} here`);
  return price.id;
}

/** What Stripe refuses is told in our words; its own go to the log. @throws Refusal conflict, dependency_unavailable */
async function asked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    if (error instanceof Stripe.errors.StripeInvalidRequestError)
      throw new Refusal(
        'conflict',
        'The payment provider refused this change. Reload the page to see where the subscription stands, then try again.',
        {
          cause: error,
        },
      );
    throw new Refusal('dependency_unavailable', "The payment provider can't be reached. Nothing was charged. Try again in a minute.", {
      retryAfter: 60,
      cause: error,
    });
  }
}

/** Ended already, which is what was wanted. */
function unlessGone(error: unknown): void {
  const cause = error instanceof Refusal ? error.cause : error;
  if (!(cause instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
}

/** A declined card is no fault of ours: its event moves the subscription. */
function unlessDeclined(error: unknown): void {
  if (!(error instanceof Stripe.errors.StripeCardError) && !(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
}
