import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { type Cron, isZone, leastGap, nextFire, parseCron } from './cron.shared.ts';
import { configOf, isRecord, triggerOf, triggerTypeOf } from './definition.shared.ts';
import { doubleOf } from './expressions/numbers.shared.ts';

const MINUTE = 60_000;
/** The channel of the delivery engine whose destinations are workflows. */
export const CHANNEL = 'workflow';

type Scheduled = { id: string; enabled: boolean; definition: unknown };
/** When a workflow starts by itself: at local times of a zone, or every so many minutes. */
export type Schedule = { cron: Cron | null; text: string | null; every: number | null; timezone: string; overlap: 'skip' | 'queue' };

/** The schedule of a definition; null without a schedule trigger, or with one that isn't well-formed. */
export function scheduleOf(definition: unknown): Schedule | null {
  const node = triggerOf(definition);
  if (!node || triggerTypeOf(definition) !== 'schedule') return null;
  const config = configOf(node);
  const timezone = typeof config.timezone === 'string' && config.timezone !== '' ? config.timezone : 'UTC';
  if (!isZone(timezone)) return null;
  const overlap = config.overlap === 'queue' ? 'queue' : 'skip';
  if (isRecord(config.every)) {
    const minutes = doubleOf(config.every.minutes) ?? 0;
    return Number.isInteger(minutes) && minutes > 0 ? { cron: null, text: null, every: minutes, timezone, overlap } : null;
  }
  const cron = typeof config.cron === 'string' ? parseCron(config.cron) : '';
  return typeof cron === 'string' ? null : { cron, text: String(config.cron).trim(), every: null, timezone, overlap };
}

/** The first time after `after`; null for a date that never comes, such as the 30th of February. */
export const nextOf = ({ cron, every, timezone }: Schedule, after: Date): Date | null =>
  cron ? nextFire(cron, timezone, after) : new Date(after.getTime() + (every ?? 1) * MINUTE);

/**
 * Makes the schedule of a workflow what its live definition says: a row while it is enabled with a schedule trigger, none otherwise. Call it in the
 * transaction of everything that changes `enabled` or the definition. `least` is workflow_schedule_min_minutes. @throws Refusal validation_error
 */
export async function syncSchedule(tx: Tx, ctx: Ctx, workflow: Scheduled, least: number): Promise<void> {
  const schedule = workflow.enabled ? scheduleOf(workflow.definition) : null;
  const next = schedule && nextOf(schedule, ctx.now);
  if (!schedule || !next) {
    await tx.workflow_schedules.deleteMany({ where: { ...own(ctx), workflow_id: workflow.id } });
    return;
  }
  if ((schedule.cron ? leastGap(schedule.cron, ctx.now) : (schedule.every ?? 0)) < least)
    throw invalid('definition', `starts more often than the plan allows: at most every ${least} minutes`);
  const data = {
    ...{ cron: schedule.text, every_minutes: schedule.every, timezone: schedule.timezone, overlap: schedule.overlap },
    next_fire_at: next,
  };
  await tx.workflow_schedules.upsert({
    where: { workflow_id: workflow.id },
    create: { ...own(ctx), ...data, workflow_id: workflow.id, created_at: ctx.now },
    update: data,
  });
}

/** The same for the subscription to request.* events of a proxy_event trigger. */
export async function syncSubscription(tx: Tx, ctx: Ctx, workflow: Scheduled): Promise<void> {
  const at = { channel: CHANNEL, destination_id: workflow.id };
  const node = workflow.enabled && triggerTypeOf(workflow.definition) === 'proxy_event' ? triggerOf(workflow.definition) : undefined;
  const config = node && configOf(node).proxyEventConfig;
  if (!isRecord(config)) {
    await tx.event_subscriptions.deleteMany({ where: { ...own(ctx), ...at } });
    return;
  }
  const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);
  const filter = { routes: texts(config.routeFilter).map((id) => id.toLowerCase()), environments: texts(config.environmentFilter) };
  const data = { event_types: [...new Set(texts(config.eventTypes))], enabled: true, max_attempts: 4, filter };
  await tx.event_subscriptions.upsert({
    where: { channel_destination_id: at },
    create: { ...own(ctx), ...at, ...data, id: workflow.id },
    update: data,
  });
}
