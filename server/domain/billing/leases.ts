import { postTeamMails } from '#server/domain/mail/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseHandlers, LeaseOutcome } from '#server/kernel/lease.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { addJob } from '#server/platform/queue.ts';
import { paymentFailed, trialEnding } from './letters.ts';
import { after, countdown, DUNNING_DAYS, DUNNING_NOTICES, RETRY_DAYS, upcoming } from './machine.ts';
import { type Billed, lockSubscription, move, whereOf } from './transitions.ts';

/** The resource is the workspace. Small batches: each may write to its Owners. */
export const leases: LeaseHandlers = { subscription: { batch: 50, handle: advanceSubscriptions } };

/** Ends what has come to its end, and tells the Owners ahead of it (interface rule 20 §4, §5). */
async function advanceSubscriptions(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const next = new Map<string, Date>();
  let acted = 0;
  const living = await tx.tenants.findMany({
    where: { id: { in: due.map(({ resource_id }) => resource_id) }, deleted_at: null },
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  for (const { id } of living) {
    let subscription = await lockSubscription(tx, id);
    // A worker that was away for long catches up move by move: a payment may be missing for 14 and for 44 days.
    for (let coming = upcoming(subscription); coming && coming.at <= now; coming = upcoming(subscription)) {
      const result = await move(tx, subscription, coming.move, { now, at: coming.at, reason: coming.move.event });
      if (!result) break;
      await writeAudit(tx, systemContext(db(), { tenant_id: id, now, label: 'subscription' }), result.entry);
      if (coming.move.event === 'written_off') await askProvider(tx, 'end_provider_subscription', id);
      subscription = result.after;
      acted++;
    }
    if (await notify(tx, subscription, now)) acted++;
    const at = nextTime(subscription, now);
    if (at) next.set(id, at);
  }
  return { next, acted };
}

/** Does what the days of a countdown bring; of several that were missed one mail. */
async function notify(tx: Tx, s: Billed, now: Date): Promise<boolean> {
  const counting = countdown(s);
  const reached = counting?.days.filter(({ day, at }) => at <= now && isNew(counting.kind, day, s.subscription_notice)) ?? [];
  const last = reached.at(-1);
  if (!counting || !last) return false;
  await tx.tenants.update({ where: { id: s.id }, data: { subscription_notice: last.day }, select: { id: true } });
  s.subscription_notice = last.day;
  const where = { ...whereOf(s), plan: s.subscription_plan };
  if (counting.kind === 'trial' && s.trial_end_at)
    await postTeamMails(tx, {
      tenant_id: s.id,
      kind: 'billing',
      letter: trialEnding({ ...where, days: last.day, ends: s.trial_end_at }),
      now,
    });
  if (counting.kind === 'dunning' && s.dunning_since) {
    if (reached.some(({ day }) => isOneOf(DUNNING_NOTICES, day))) {
      const letter = paymentFailed({ ...where, since: s.dunning_since, stops: after(s.dunning_since, DUNNING_DAYS) });
      await postTeamMails(tx, { tenant_id: s.id, kind: 'billing', letter, now });
    }
    if (reached.some(({ day }) => isOneOf(RETRY_DAYS, day))) await askProvider(tx, 'retry_payment', s.id);
  }
  return true;
}

/** Where nobody takes payments, there is nobody to ask. */
async function askProvider(tx: Tx, job: 'end_provider_subscription' | 'retry_payment', tenantId: string): Promise<void> {
  const account = await tx.billing_accounts.findUnique({ where: { tenant_id: tenantId }, select: { subscription_id: true } });
  if (account?.subscription_id) await addJob(tx, job, { tenant_id: tenantId }, { job_key: `${job}:${tenantId}` });
}

/** The days of a trial are counted down, those of a missed payment up. */
const isNew = (kind: 'trial' | 'dunning', day: number, told: number | null) =>
  told === null || (kind === 'trial' ? day < told : day > told);
const isOneOf = (days: readonly number[], day: number) => days.includes(day);

function nextTime(s: Billed, now: Date): Date | undefined {
  const days = countdown(s)?.days.map(({ at }) => at) ?? [];
  const times = [upcoming(s)?.at, ...days].flatMap((at) => (at && at > now ? [at.getTime()] : []));
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}
