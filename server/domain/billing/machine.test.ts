import assert from 'node:assert/strict';
import test from 'node:test';
import { after, type Move, moved, STATUSES, type Status, type Subscription, upcoming } from './machine.ts';

const now = new Date('2026-11-22T12:00:00Z');
const of = (subscription_status: Status, more: Partial<Subscription> = {}): Subscription => ({
  subscription_plan: 'pro',
  subscription_status,
  pause_reason: null,
  trial_start_at: null,
  trial_end_at: null,
  subscription_current_period_start: null,
  subscription_current_period_end: null,
  subscription_cancel_at: null,
  dunning_since: null,
  past_due_since: null,
  paused_until: null,
  enterprise_ended_by: null,
  ...more,
});
const period = { start: now, end: after(now, 30) };

/** Interface rule 20 §5: to which status each event leads, from each; a dash where it changes nothing. */
const TABLE: [Move, Partial<Record<Status, Status>>, Partial<Subscription>?][] = [
  [{ event: 'trial_started' }, { active: 'trialing' }, { subscription_plan: 'free' }],
  [{ event: 'trial_ended' }, { trialing: 'active' }],
  [
    { event: 'checkout_completed', plan: 'pro', period },
    { trialing: 'active', active: 'active', dunning: 'active', past_due: 'active', paused: 'active', cancelled: 'active' },
  ],
  [{ event: 'payment_failed' }, { active: 'dunning', trialing: 'dunning' }],
  [{ event: 'dunning_ended' }, { dunning: 'past_due' }],
  [{ event: 'written_off' }, { past_due: 'cancelled' }],
  [
    { event: 'cancellation_scheduled', at: after(now, 3) },
    { active: 'active', dunning: 'dunning' },
  ],
  [{ event: 'ended' }, { trialing: 'cancelled', active: 'cancelled', dunning: 'cancelled', past_due: 'cancelled', paused: 'cancelled' }],
  [{ event: 'paused', until: after(now, 90) }, { active: 'paused' }],
  [{ event: 'resumed' }, { paused: 'active' }],
  [{ event: 'pause_ended' }, { paused: 'active' }],
  [{ event: 'returned_to_free' }, { cancelled: 'active' }],
];

for (const [move, leads, more] of TABLE)
  test(`${move.event} leads from each status where the table says, and nowhere else`, () => {
    const found = STATUSES.map((status) => [status, moved(now, of(status, more), move)?.subscription_status]);
    assert.deepEqual(
      found,
      STATUSES.map((status) => [status, leads[status]]),
    );
  });

test('what the operator suspended, no payment and no Owner resumes', () => {
  const suspended = of('paused', { pause_reason: 'operator', paused_until: now });
  for (const event of ['resumed', 'pause_ended'] as const) assert.equal(moved(now, suspended, { event }), null);
  assert.equal(upcoming(suspended), null);
  const paid = moved(now, suspended, { event: 'checkout_completed', plan: 'enterprise', period });
  assert.deepEqual([paid?.subscription_status, paid?.pause_reason, paid?.subscription_plan], ['paused', 'operator', 'enterprise']);
});

test('the end of an Enterprise plan is deliberate when it was scheduled, and a lapse when nobody paid', () => {
  const enterprise = { subscription_plan: 'enterprise' as const };
  assert.equal(moved(now, of('active', { ...enterprise, subscription_cancel_at: now }), { event: 'ended' })?.enterprise_ended_by, 'owner');
  assert.equal(moved(now, of('past_due', enterprise), { event: 'written_off' })?.enterprise_ended_by, null);
});

test('there is one trial per workspace, of the pro plan, for 14 days, from Free only', () => {
  const started = moved(now, of('active', { subscription_plan: 'free' }), { event: 'trial_started' });
  assert.deepEqual([started?.subscription_plan, started?.trial_end_at], ['pro', after(now, 14)]);
  const ended = moved(after(now, 14), started as Subscription, { event: 'trial_ended' });
  assert.deepEqual([ended?.subscription_plan, ended?.subscription_status], ['free', 'active']);
  assert.equal(moved(after(now, 15), ended as Subscription, { event: 'trial_started' }), null);
  assert.equal(moved(now, of('active'), { event: 'trial_started' }), null, 'nor from a paid plan');
});
