import { postTeamMails } from '#server/domain/mail/service.ts';
import type { Letter } from '#server/domain/mail/templates.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import * as letters from './letters.ts';
import { after, type Move, moved, PAST_DUE_DAYS, type Subscription } from './machine.ts';

export const COLUMNS = {
  subscription_plan: true,
  subscription_status: true,
  pause_reason: true,
  trial_start_at: true,
  trial_end_at: true,
  subscription_current_period_start: true,
  subscription_current_period_end: true,
  subscription_cancel_at: true,
  dunning_since: true,
  past_due_since: true,
  paused_until: true,
  enterprise_ended_by: true,
} as const;

export type Billed = Subscription & { id: string; slug: string; name: string; subscription_notice: number | null };

/** The subscription of a workspace, its row locked until the transaction ends. @throws Refusal not_found */
export async function lockSubscription(tx: Tx, tenantId: string): Promise<Billed> {
  await tx.$queryRaw`select 1 from tenants where id = ${tenantId}::uuid for no key update`;
  const row = await tx.tenants.findFirst({
    where: { id: tenantId, deleted_at: null },
    select: { id: true, slug: true, name: true, subscription_notice: true, ...COLUMNS },
  });
  if (!row) throw notFound();
  // Both columns are written by the domain only, from its registers.
  return row as Billed;
}

/**
 * Moves the subscription in the caller's transaction and mails the Owners where the move concerns them. The caller writes the entry.
 * @returns null when the move isn't possible from where the subscription stands
 */
export async function move(
  tx: Tx,
  before: Billed,
  what: Move,
  {
    now,
    at = now,
    reason,
    by,
  }: { now: Date /** When it happened, if a worker only found out later. */; at?: Date; reason: string; by?: string },
): Promise<{ after: Billed; entry: AuditEntry } | null> {
  const next = moved(at, before, what);
  if (!next) return null;
  await tx.tenants.update({
    where: { id: before.id },
    data: { ...pick(next), subscription_notice: null, updated_at: now },
    select: { id: true },
  });
  const result = { ...before, ...next, subscription_notice: null };
  const letter = letterOf(before, result, what, by ?? 'An Owner');
  if (letter) await postTeamMails(tx, { tenant_id: before.id, kind: 'billing', letter, now });
  return { after: result, entry: entryOf(before, result, reason) };
}

/** Every move of a subscription in the audit log (interface rule 20 §5). */
export const entryOf = (before: Billed, result: Subscription, reason: string): AuditEntry => ({
  action: 'update',
  resource_type: 'billing',
  resource_id: before.id,
  name: before.name,
  details: { from: standing(before), to: standing(result) },
  reason,
  workspace_level: true,
});

const standing = ({ subscription_plan: plan, subscription_status: status, subscription_cancel_at: cancel_at }: Subscription) => ({
  plan,
  status,
  ...(cancel_at ? { cancel_at: cancel_at.toISOString() } : {}),
});

const pick = (s: Subscription) => Object.fromEntries(Object.keys(COLUMNS).map((column) => [column, s[column as keyof Subscription]]));

export const billingUrl = (slug: string): string => `${env.PUBLIC_ADMIN_URL}/${slug}/settings/billing`;
export const whereOf = ({ name, slug }: Pick<Billed, 'name' | 'slug'>) => ({ workspace: name, billingUrl: billingUrl(slug) });

function letterOf(before: Billed, result: Subscription, { event }: Move, by: string): Letter | null {
  const where = whereOf(before);
  if (event === 'trial_ended') return letters.trialEnded(where);
  if (event === 'dunning_ended' && result.past_due_since)
    return letters.pastDue({ ...where, ends: after(result.past_due_since, PAST_DUE_DAYS) });
  if (event === 'written_off' || event === 'ended') return letters.subscriptionEnded(where);
  if (event === 'cancellation_scheduled' && result.subscription_cancel_at)
    return letters.cancellationScheduled({ ...where, by, at: result.subscription_cancel_at });
  if (event === 'paused' && result.paused_until) return letters.pausedByOwner({ ...where, by, until: result.paused_until });
  return null;
}
