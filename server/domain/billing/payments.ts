import type { PlanName } from '#server/domain/plans/schema.ts';
import type { Period } from './machine.ts';

export type Interval = 'month' | 'year';
export type PaidPlan = Exclude<PlanName, 'free'>;
export type Card = { brand: string; last4: string; exp_month: number; exp_year: number };

/** What the provider says of a customer now. `ended` names the subscription that was ours and is over. */
export type Standing = {
  payment_method: Card | null;
  subscription:
    | {
        id: string;
        state: 'paid' | 'failing' | 'unpaid' | 'paused';
        plan: PaidPlan | null;
        interval: Interval | null;
        period: Period;
        cancel_at: Date | null;
        paused_until: Date | null;
      }
    | { id: string; state: 'ended' }
    | null;
};

/** Who takes the money. No card data passes through this service: people type it on the provider's own pages. */
export type Driver = {
  customer: (workspace: { id: string; name: string; email: string | null }) => Promise<string>;
  /** Idempotent by `key`: parallel calls get one page. */
  checkout: (input: {
    key: string;
    customer: string;
    tenant_id: string;
    plan: PaidPlan;
    interval: Interval;
    backTo: string;
  }) => Promise<{ id: string; url: string }>;
  expireCheckout: (session: string) => Promise<void>;
  portal: (customer: string, backTo: string) => Promise<string>;
  changePlan: (subscription: string, plan: PaidPlan, interval: Interval, key: string) => Promise<void>;
  scheduleCancel: (subscription: string, scheduled: boolean, key: string) => Promise<void>;
  pause: (subscription: string, until: Date | null, key: string) => Promise<void>;
  end: (subscription: string) => Promise<void>;
  retryPayment: (subscription: string) => Promise<void>;
  /** Of several live subscriptions of one customer the newest stays; the others are ended at once. */
  standing: (customer: string, recorded: string | null) => Promise<Standing>;
};
