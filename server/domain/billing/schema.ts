import { z } from 'zod';
import { PLANS } from '#server/domain/plans/schema.ts';
import { time } from '#server/kernel/fields.ts';

export const INTERVALS = ['month', 'year'] as const;
const MOST_PAUSED_DAYS = 90;

const interval = z.enum(INTERVALS);
const day = () => time().nullable();

/** Everything that the Billing page shows (interface rule 20 §6). */
export const Billing = z.object({
  /** `manual`: the operator sets plans; `stripe`: people pay by card. */
  driver: z.enum(['manual', 'stripe']),
  plan: z.enum(PLANS),
  status: z.enum(['trialing', 'active', 'dunning', 'past_due', 'paused', 'cancelled']),
  /** Who paused it: what the operator suspended, only the operator resumes. */
  paused_by: z.enum(['owner', 'operator']).nullable(),
  paused_until: day(),
  interval: interval.nullable(),
  period: z.object({ start: day(), end: day() }),
  /** When the subscription ends, or ended. */
  cancel_at: day(),
  trial: z.object({ available: z.boolean(), start: day(), end: day() }),
  /** A missing payment: since when, and when calls are refused or the subscription ends for it. */
  dunning: z.object({ stage: z.enum(['dunning', 'past_due']), since: time(), until: time() }).nullable(),
  payment_method: z.object({ brand: z.string(), last4: z.string(), exp_month: z.number().int(), exp_year: z.number().int() }).nullable(),
  company: z.object({
    country: z.string().nullable(),
    address: z.string().nullable(),
    city: z.string().nullable(),
    postal_code: z.string().nullable(),
    tax_id_type: z.string().nullable(),
    tax_id_value: z.string().nullable(),
  }),
  invoices: z.array(
    z.object({
      id: z.string(),
      number: z.string().nullable(),
      date: time(),
      /** in the smallest unit of the currency */
      amount: z.number().int(),
      currency: z.string(),
      status: z.string(),
      pdf_url: z.string().nullable(),
    }),
  ),
  /** What can be bought here. */
  offers: z.array(z.object({ plan: z.enum(PLANS), interval })),
});
export type Billing = z.input<typeof Billing>;

/** Judged after the second factor, as in PATCH /auth/me, so any shape may come in here. */
export const UpdateTaxId = z.strictObject({ tax_id_type: z.unknown().optional(), tax_id_value: z.unknown().optional() });
/** `free` returns a canceled workspace to the Free plan. */
export const Checkout = z.strictObject({ plan: z.enum(PLANS), interval: interval.default('month') });
/** `url` is null when nothing is left to do in the browser. */
export const CheckoutStarted = z.object({ url: z.url().nullable(), billing: Billing });
export const PortalOpened = z.object({ url: z.url() });
export const Pause = z.strictObject({ days: z.number().int().min(1).max(MOST_PAUSED_DAYS).default(MOST_PAUSED_DAYS) });
export const Nothing = z.strictObject({});
