import { type AlertMessage, queueMessage } from '#server/domain/alert-channels/service.ts';
import { raise } from '#server/domain/events/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { type Db, inTransaction, type Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { env } from '#server/platform/env.ts';
import { describeCondition, thresholdOf, UNITS } from './conditions.shared.ts';
import { addEntry } from './incidents.ts';
import { isMuted, messageDue } from './machine.ts';
import type { MessageKind } from './schema.ts';
import type { Group, Watched } from './watched.ts';

/** An incident as the evaluation reads it. */
export type Open = {
  id: string;
  alert_id: string;
  group_key: string;
  clean_since: Date | null;
  value: number;
  peak: number;
  messages: number;
  last_message_at: Date | null;
  acknowledged_at: Date | null;
};

export type Decision =
  | { do: 'open'; alert: Watched; group: Group }
  | { do: 'tell'; alert: Watched; incident: Open; kind: 'opened' | 'reminder' }
  | { do: 'resolve'; alert: Watched; incident: Open; value: number };

type Workspace = { name: string; slug: string };
type Stored = NonNullable<Awaited<ReturnType<Tx['alert_incidents']['findFirst']>>>;

/** Carries out what was decided for one space: incidents, timelines, messages and events in one transaction. @returns how many of each */
export async function decide(db: Db, decisions: readonly Decision[], samples: ReadonlyMap<Decision, string[]>, now: Date) {
  const [{ alert }] = decisions as [Decision];
  const ctx = systemContext(db, { tenant_id: alert.tenant_id, sandbox: alert.sandbox, now, label: 'alerts' });
  return inTransaction(ctx, async (tx) => {
    const done = { opened: 0, resolved: 0, told: 0 };
    const watched = await stillWatched(tx, ctx, decisions);
    const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
    for (const decision of decisions) {
      if (!watched.has(decision.alert.id)) continue;
      if (decision.do === 'open') {
        const told = await open(tx, ctx, workspace, decision, samples.get(decision) ?? []);
        if (told === null) continue;
        done.opened++;
        done.told += told;
      } else if (decision.do === 'tell') {
        const row = await locked(tx, ctx, decision.incident.id);
        // Somebody may have acknowledged it since it was read.
        if (row && messageDue(row, decision.alert, now) === decision.kind)
          done.told += await tell(tx, ctx, workspace, decision.alert, { ...row, ...decision.incident }, decision.kind);
      } else if (await resolve(tx, ctx, workspace, decision)) done.resolved++;
    }
    return done;
  });
}

/** Locks the alerts, in the order of their IDs: one that is being changed or turned off is decided about at the next look. */
async function stillWatched(tx: Tx, ctx: Ctx, decisions: readonly Decision[]): Promise<Set<string>> {
  const alerts = new Map(decisions.map(({ alert }) => [alert.id, alert]));
  const rows = await tx.$queryRaw<{ id: string; watching_since: Date }[]>`
    select id, watching_since from alerts where id = any(${[...alerts.keys()]}::uuid[]) and tenant_id = ${ctx.tenant_id}::uuid and enabled order by id for share`;
  return new Set(
    rows.filter(({ id, watching_since }) => alerts.get(id)?.watching_since.getTime() === watching_since.getTime()).map(({ id }) => id),
  );
}

/** @returns messages queued; null if it is open already */
async function open(
  tx: Tx,
  ctx: Ctx,
  workspace: Workspace,
  { alert, group }: Extract<Decision, { do: 'open' }>,
  sample_request_ids: string[],
): Promise<number | null> {
  const where = { ...own(ctx), alert_id: alert.id, group_key: group.key };
  const last = await tx.alert_incidents.findFirst({ where, orderBy: { started_at: 'desc' } });
  if (last && last.resolved_at === null) return null;
  const incident = await tx.alert_incidents.create({
    data: {
      ...{ id: newId(), ...where, alert_name: alert.name, type: alert.type, severity: alert.severity },
      ...{ subject: await subjectOf(tx, ctx, alert, group), route_id: group.route_id ?? null, started_at: ctx.now },
      ...{ value: group.value, peak: group.value, threshold: thresholdOf(alert.type, alert.condition), sample_request_ids },
      // What flaps is told of once a cooldown, however many incidents that is.
      last_message_at: last?.last_message_at ?? null,
    },
  });
  await tx.alerts.updateMany({ where: { ...own(ctx), id: alert.id }, data: { last_fired_at: ctx.now } });
  await addEntry(tx, ctx, { incident_id: incident.id, kind: 'opened', text: describeCondition(alert.type, alert.condition) });
  await raise(tx, ctx, [{ type: 'alert.triggered', source_id: incident.id, data: eventData(alert, incident, ctx.now) }]);
  return messageDue(incident, alert, ctx.now) === null ? 0 : tell(tx, ctx, workspace, alert, incident, 'opened');
}

/** @returns false if it has ended meanwhile */
async function resolve(
  tx: Tx,
  ctx: Ctx,
  workspace: Workspace,
  { alert, incident, value }: Extract<Decision, { do: 'resolve' }>,
): Promise<boolean> {
  const row = await locked(tx, ctx, incident.id);
  if (!row) return false;
  const after = await tx.alert_incidents.update({
    where: { id: row.id },
    data: { state: 'resolved', resolved_at: ctx.now, value },
  });
  await addEntry(tx, ctx, { incident_id: row.id, kind: 'resolved' });
  await raise(tx, ctx, [{ type: 'alert.resolved', source_id: row.id, data: eventData(alert, after, ctx.now) }]);
  // The end of what nobody was told of is no news.
  if (row.messages > 0 && !isMuted(alert.muted_until, ctx.now)) await tell(tx, ctx, workspace, alert, after, 'resolved');
  return true;
}

async function locked(tx: Tx, ctx: Ctx, id: string): Promise<Stored | null> {
  await tx.$queryRaw`select 1 from alert_incidents where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for update`;
  return tx.alert_incidents.findFirst({ where: { ...own(ctx), id, resolved_at: null } });
}

/** Queues one message and notes it. @returns 1, or 0 when no channel takes it now */
async function tell(tx: Tx, ctx: Ctx, workspace: Workspace, alert: Watched, incident: Stored, kind: MessageKind): Promise<number> {
  const { id, channel_ids } = await queueMessage(tx, ctx, messageOf(ctx, workspace, alert, incident, kind), alert.channel_ids);
  if (kind !== 'resolved')
    await tx.alert_incidents.update({ where: { id: incident.id }, data: { messages: { increment: 1 }, last_message_at: ctx.now } });
  if (channel_ids.length === 0) return 0;
  await addEntry(tx, ctx, { incident_id: incident.id, kind: 'message', message_id: id, message: kind, channel_ids });
  return 1;
}

function messageOf(ctx: Ctx, { name, slug }: Workspace, { type, condition }: Watched, incident: Stored, kind: MessageKind): AlertMessage {
  const { id, alert_id, alert_name, subject, value, peak, threshold, started_at, resolved_at, sample_request_ids } = incident;
  const space = spaceOf(ctx.sandbox);
  return {
    ...{ kind, incident_id: id, alert_id, alert: alert_name, type, severity: incident.severity as AlertMessage['severity'], subject },
    ...{ condition: describeCondition(type, condition), value, peak, threshold, unit: UNITS[type] },
    ...{ started_at: started_at.toISOString(), resolved_at: resolved_at?.toISOString() ?? null, sample_request_ids },
    ...{ workspace: name, space, link: `${env.PUBLIC_ADMIN_URL}/${slug}/${space}/alerts/incidents/${id}` },
  };
}

/** The data of alert.triggered and alert.resolved. */
const eventData = ({ muted_until }: Watched, incident: Stored, now: Date) => ({
  incident_id: incident.id,
  alert_id: incident.alert_id,
  alert_name: incident.alert_name,
  alert_type: incident.type,
  severity: incident.severity,
  subject: incident.subject,
  route_id: incident.route_id,
  value: incident.value,
  peak: incident.peak,
  threshold: incident.threshold,
  started_at: incident.started_at.toISOString(),
  resolved_at: incident.resolved_at?.toISOString() ?? null,
  sample_request_ids: incident.sample_request_ids,
  muted: isMuted(muted_until, now),
});

async function subjectOf(tx: Tx, ctx: Ctx, { type }: Watched, { key, subject, route_id }: Group): Promise<string | null> {
  if (subject !== undefined) return subject;
  if (!route_id) return key === '' ? null : 'Calls of no route';
  const route = await tx.routes.findFirst({ where: { ...own(ctx), id: route_id }, select: { name: true } });
  return route?.name ?? `A route that is gone (${type === 'no_traffic' ? 'no traffic' : 'its last calls'})`;
}
