import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { type AlertType, type Condition, describeCondition, type Severity, UNITS } from './conditions.shared.ts';
import type { ListIncidents, MessageKind, NoteIncident } from './schema.ts';

type Stored = NonNullable<Awaited<ReturnType<Tx['alert_incidents']['findFirst']>>>;

const view = (row: Stored) => {
  const type = row.type as AlertType;
  return { ...row, type, severity: row.severity as Severity, state: row.state as 'open' | 'resolved', unit: UNITS[type] };
};

/** The newest first; those that are open before those that have ended. */
export const listIncidents = (ctx: Ctx, { state, alert_id, ...page }: z.output<typeof ListIncidents>) =>
  read(ctx, async (tx) => {
    const where = { ...own(ctx), ...(state ? { state } : {}), ...(alert_id ? { alert_id } : {}) };
    const total = await tx.alert_incidents.count({ where });
    const rows = await pagedRows(
      page,
      total,
      [{ started_at: 'desc' }, { id: 'desc' }],
      (window) => tx.alert_incidents.findMany({ where, ...window, select: { id: true } }),
      (ids) => tx.alert_incidents.findMany({ where: { ...own(ctx), id: { in: ids } } }),
    );
    return pageOf(rows.map(view), total, page);
  });

/** With its timeline, and what was changed before it. @throws Refusal not_found */
export const getIncident = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await incidentById(tx, ctx, id);
    const alert = await tx.alerts.findFirstOrThrow({ where: { ...own(ctx), id: row.alert_id } });
    return {
      ...view(row),
      condition: describeCondition(alert.type as AlertType, alert.condition as Condition),
      timeline: await timelineOf(tx, ctx, row.id),
      changes: await changesBefore(tx, ctx, row),
    };
  });

async function timelineOf(tx: Tx, ctx: Ctx, incident_id: string) {
  const entries = await tx.alert_incident_entries.findMany({
    where: { ...own(ctx), incident_id },
    orderBy: [{ at: 'asc' }, { id: 'asc' }],
    take: 500,
  });
  const deliveries = await tx.deliveries.findMany({
    where: { ...own(ctx), event_id: { in: entries.flatMap(({ message_id }) => message_id ?? []) } },
  });
  const channels = await tx.alert_channels.findMany({ where: own(ctx), select: { id: true, name: true, kind: true } });
  const named = new Map(channels.map((channel) => [channel.id, channel]));
  return entries.map((entry) => ({
    ...entry,
    kind: entry.kind as 'note',
    message: entry.message as MessageKind | null,
    deliveries: deliveries
      .filter(({ event_id }) => event_id === entry.message_id)
      .map(({ destination_id, state, attempts, last_status, last_error, finished_at }) => {
        const channel = named.get(destination_id);
        const about = { channel_id: destination_id, channel: channel?.name ?? null, kind: channel?.kind ?? null };
        return { ...about, state: state as 'pending', attempts, last_status, last_error, finished_at };
      }),
  }));
}

const BEFORE_MS = 30 * 60_000;

/** What people and programs changed in the half hour before: the newest twenty. */
async function changesBefore(tx: Tx, ctx: Ctx, { started_at }: Stored) {
  const rows = await tx.audit_logs.findMany({
    where: {
      ...own(ctx),
      created_at: { gte: new Date(started_at.getTime() - BEFORE_MS), lte: started_at },
      NOT: { action: { startsWith: 'plaintext.' } },
    },
    orderBy: [{ created_at: 'desc' }, { seq: 'desc' }],
    take: 20,
  });
  return rows.map(({ id, created_at: at, action, resource_type, resource_id, details, actor_label: actor }) => {
    const { name } = details as { name?: unknown };
    return { id, at, action, resource_type, resource_id, name: typeof name === 'string' ? name : null, actor };
  });
}

/** Nobody is reminded of it any more; its end is told all the same. @throws Refusal not_found, conflict when it has ended */
export const acknowledgeIncident = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = await openIncident(tx, ctx, id);
    if (row.acknowledged_at !== null) throw new Refusal('conflict', `This incident was acknowledged by ${row.acknowledged_by} already.`);
    const after = await tx.alert_incidents.update({
      where: { id: row.id },
      data: { acknowledged_at: ctx.now, acknowledged_by: ctx.actor.label },
    });
    await addEntry(tx, ctx, { incident_id: row.id, kind: 'acknowledged', actor: ctx.actor.label });
    return audited(view(after), entryOf(row, { operation: 'acknowledge' }));
  });

/** @throws Refusal not_found */
export const noteIncident = (ctx: Ctx, { id, text }: z.output<typeof NoteIncident>) =>
  mutate(ctx, async (tx) => {
    const row = await incidentById(tx, ctx, id);
    if ((await tx.alert_incident_entries.count({ where: { ...own(ctx), incident_id: row.id, kind: 'note' } })) >= 100)
      throw new Refusal('conflict', 'An incident can have at most 100 notes.');
    await addEntry(tx, ctx, { incident_id: row.id, kind: 'note', actor: ctx.actor.label, text });
    return audited(view(row), entryOf(row, { operation: 'note' }));
  });

/** Ends what is open of an alert that is no longer watched as it was. Nobody is told: a person did it. */
export async function closeSilently(tx: Tx, ctx: Ctx, alert_id: string, text: string): Promise<void> {
  const open = await tx.alert_incidents.findMany({ where: { ...own(ctx), alert_id, resolved_at: null }, select: { id: true } });
  for (const { id } of open) {
    await tx.alert_incidents.update({ where: { id }, data: { state: 'resolved', resolved_at: ctx.now } });
    await addEntry(tx, ctx, { incident_id: id, kind: 'resolved', actor: ctx.actor.label, text });
  }
}

type Entry = {
  incident_id: string;
  kind: 'opened' | 'message' | 'acknowledged' | 'note' | 'resolved';
  actor?: string;
  text?: string;
  message_id?: string;
  message?: MessageKind;
  channel_ids?: string[];
};

export const addEntry = (tx: Tx, ctx: Ctx, entry: Entry) =>
  tx.alert_incident_entries.create({ data: { id: newId(), ...own(ctx), at: ctx.now, ...entry } });

async function incidentById(tx: Tx, ctx: Ctx, id: string): Promise<Stored> {
  const row = isUuid(id) ? await tx.alert_incidents.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

async function openIncident(tx: Tx, ctx: Ctx, id: string): Promise<Stored> {
  if (isUuid(id))
    await tx.$queryRaw`select 1 from alert_incidents where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for update`;
  const row = await incidentById(tx, ctx, id);
  if (row.resolved_at !== null) throw new Refusal('conflict', 'This incident has ended already.');
  return row;
}

const entryOf = ({ id, alert_id, alert_name }: Stored, details: Record<string, unknown>) => ({
  ...{ action: 'update', resource_type: 'alert', resource_id: alert_id, name: alert_name },
  details: { ...details, incident_id: id },
});
