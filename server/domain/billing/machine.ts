import type { PlanName } from '#server/domain/plans/schema.ts';
import { isServableStatus } from '#server/domain/tenants/schema.ts';

/** The states of a subscription (interface rule 20 §5), as pure functions: who may move it where, and what moves by itself and when. */
export const STATUSES = ['trialing', 'active', 'dunning', 'past_due', 'paused', 'cancelled'] as const;
export type Status = (typeof STATUSES)[number];

/** The columns of a workspace that make its subscription. */
export type Subscription = {
  subscription_plan: PlanName;
  subscription_status: Status;
  /** Who paused it; what the operator suspended only the operator resumes. */
  pause_reason: string | null;
  trial_start_at: Date | null;
  trial_end_at: Date | null;
  subscription_current_period_start: Date | null;
  subscription_current_period_end: Date | null;
  subscription_cancel_at: Date | null;
  dunning_since: Date | null;
  past_due_since: Date | null;
  paused_until: Date | null;
  enterprise_ended_by: string | null;
};

export const DAY = 24 * 3_600_000;
export const TRIAL_DAYS = 14;
export const DUNNING_DAYS = 14;
export const PAST_DUE_DAYS = 30;
export const MOST_PAUSED_DAYS = 90;
export const TRIAL_PLAN: PlanName = 'pro';
/** Days left of a trial at which the Owners are mailed. */
export const TRIAL_NOTICES = [3, 1] as const;
/** Days after a failed payment at which the Owners are mailed, and at which the payment is tried again. */
export const DUNNING_NOTICES = [0, 3, 7, 10] as const;
export const RETRY_DAYS = [1, 3, 5, 7, 10] as const;

export type Move =
  | {
      event:
        | 'trial_started'
        | 'trial_ended'
        | 'dunning_ended'
        | 'written_off'
        | 'pause_ended'
        | 'cancellation_withdrawn'
        | 'returned_to_free';
    }
  | { event: 'checkout_completed' | 'payment_succeeded'; plan: PlanName; period: Period }
  | { event: 'payment_failed' | 'resumed' | 'ended' }
  | { event: 'cancellation_scheduled'; at: Date }
  | { event: 'paused'; until: Date };
export type Period = { start: Date | null; end: Date | null };

const CALM = { dunning_since: null, past_due_since: null, paused_until: null, pause_reason: null } as const;

/** The subscription after a move; null when the move isn't possible from where it stands. */
export function moved(now: Date, s: Subscription, move: Move): Subscription | null {
  const status = s.subscription_status;
  const from = (...allowed: Status[]) => allowed.includes(status);
  switch (move.event) {
    case 'trial_started':
      if (!from('active') || s.subscription_plan !== 'free' || s.trial_start_at) return null;
      return { ...s, subscription_plan: TRIAL_PLAN, subscription_status: 'trialing', ...trialFrom(now) };
    case 'trial_ended':
      return from('trialing') ? { ...s, subscription_plan: 'free', subscription_status: 'active' } : null;
    case 'checkout_completed':
    case 'payment_succeeded':
      // A suspension by the operator outlives every payment.
      if (isSuspended(s)) return { ...s, subscription_plan: move.plan, ...periodOf(move.period) };
      return {
        ...s,
        ...CALM,
        ...periodOf(move.period),
        subscription_plan: move.plan,
        subscription_status: 'active',
        trial_end_at: status === 'trialing' ? now : s.trial_end_at,
        subscription_cancel_at: status === 'cancelled' ? null : s.subscription_cancel_at,
        enterprise_ended_by: move.plan === 'enterprise' ? null : s.enterprise_ended_by,
      };
    case 'payment_failed':
      return from('active', 'trialing') ? { ...s, subscription_status: 'dunning', dunning_since: now } : null;
    case 'dunning_ended':
      return from('dunning') ? { ...s, subscription_status: 'past_due', dunning_since: null, past_due_since: now } : null;
    case 'written_off':
      return from('past_due') ? cancelled(now, s, null) : null;
    case 'cancellation_scheduled':
      if (!from('active', 'dunning') || s.subscription_plan === 'free' || s.subscription_cancel_at) return null;
      return { ...s, subscription_cancel_at: move.at };
    case 'cancellation_withdrawn':
      return s.subscription_cancel_at && !from('cancelled') ? { ...s, subscription_cancel_at: null } : null;
    case 'ended':
      if (from('cancelled') || s.subscription_plan === 'free') return null;
      // What its Owner scheduled is a deliberate end: Enterprise connectors stop (interface rule 20 §5).
      return cancelled(now, s, s.subscription_cancel_at && s.subscription_plan === 'enterprise' ? 'owner' : s.enterprise_ended_by);
    case 'paused':
      if (!from('active') || s.subscription_plan === 'free') return null;
      return { ...s, subscription_status: 'paused', pause_reason: 'owner', paused_until: move.until };
    case 'resumed':
    case 'pause_ended':
      return from('paused') && !isSuspended(s) ? { ...s, ...CALM, subscription_status: 'active' } : null;
    case 'returned_to_free':
      if (!from('cancelled')) return null;
      return {
        ...s,
        ...CALM,
        subscription_plan: 'free',
        subscription_status: 'active',
        subscription_cancel_at: null,
        ...periodOf({ start: null, end: null }),
      };
  }
}

/** Suspended by the operator. */
export const isSuspended = (s: Pick<Subscription, 'subscription_status' | 'pause_reason'>): boolean =>
  s.subscription_status === 'paused' && s.pause_reason === 'operator';

const cancelled = (now: Date, s: Subscription, enterprise_ended_by: string | null): Subscription => ({
  ...s,
  dunning_since: null,
  past_due_since: null,
  paused_until: null,
  subscription_status: 'cancelled',
  subscription_cancel_at: now,
  enterprise_ended_by,
});

const periodOf = ({ start, end }: Period) => ({ subscription_current_period_start: start, subscription_current_period_end: end });
/** A trial that begins now. */
export const trialFrom = (now: Date) => ({ trial_start_at: now, trial_end_at: after(now, TRIAL_DAYS) });
export const after = (at: Date, days: number): Date => new Date(at.getTime() + days * DAY);

/** What happens by itself next, and when; null when nothing does. */
export function upcoming(s: Subscription): { move: Move; at: Date } | null {
  const candidates: { move: Move; at: Date | null }[] = [
    { move: { event: 'trial_ended' }, at: s.subscription_status === 'trialing' ? s.trial_end_at : null },
    {
      move: { event: 'dunning_ended' },
      at: s.subscription_status === 'dunning' && s.dunning_since ? after(s.dunning_since, DUNNING_DAYS) : null,
    },
    {
      move: { event: 'written_off' },
      at: s.subscription_status === 'past_due' && s.past_due_since ? after(s.past_due_since, PAST_DUE_DAYS) : null,
    },
    { move: { event: 'pause_ended' }, at: s.subscription_status === 'paused' && !isSuspended(s) ? s.paused_until : null },
    {
      move: { event: 'ended' },
      at: s.subscription_status === 'cancelled' || s.subscription_plan === 'free' ? null : s.subscription_cancel_at,
    },
  ];
  const dated = candidates.flatMap(({ move, at }) => (at ? [{ move, at }] : []));
  return dated.sort((a, b) => a.at.getTime() - b.at.getTime())[0] ?? null;
}

/** Days of the countdown that the Owners are in, as they are counted: left of a trial, gone since a failed payment. */
export function countdown(s: Subscription): { kind: 'trial' | 'dunning'; days: { day: number; at: Date }[] } | null {
  const { subscription_status: status, trial_end_at, dunning_since } = s;
  if (status === 'trialing' && trial_end_at)
    return { kind: 'trial', days: TRIAL_NOTICES.map((day) => ({ day, at: after(trial_end_at, -day) })) };
  if (status !== 'dunning' || !dunning_since) return null;
  const days = [...new Set([...DUNNING_NOTICES, ...RETRY_DAYS])].sort((a, b) => a - b);
  return { kind: 'dunning', days: days.map((day) => ({ day, at: after(dunning_since, day) })) };
}

/** Whether people build and callers call. */
export const isServed = (s: Pick<Subscription, 'subscription_status'>): boolean => isServableStatus(s.subscription_status);
