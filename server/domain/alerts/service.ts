import type { z } from 'zod';
import { channelsNamed } from '#server/domain/alert-channels/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { checkScope, conditionOf } from './condition.ts';
import type { Condition } from './conditions.shared.ts';
import { closeSilently } from './incidents.ts';
import type { CreateAlert, MuteAlert, UpdateAlert } from './schema.ts';
import { saveSignalSubscription } from './signals.ts';
import { type AlertRow, alertById, lockedAlert, openIncidents } from './store.ts';

export { lockedAlert } from './store.ts';

const MOST = 200;
const DAY = 86_400_000;

/** The alerts of the space, by name. */
export const listAlerts = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const rows = (await tx.alerts.findMany({ where: own(ctx), orderBy: [{ name: 'asc' }, { id: 'asc' }] })) as AlertRow[];
    const open = await openIncidents(
      tx,
      ctx,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => view(row, open.get(row.id)));
  });

/** @throws Refusal not_found */
export const getAlert = (ctx: Ctx, { id }: { id: string }) => read(ctx, async (tx) => shown(tx, ctx, await alertById(tx, ctx, id)));

const shown = async (tx: Tx, ctx: Ctx, row: AlertRow) => view(row, (await openIncidents(tx, ctx, [row.id])).get(row.id));
const view = (row: AlertRow, open_incidents = 0) => ({ ...row, open_incidents });

/** @throws Refusal validation_error, conflict at the most a space can have */
export const createAlert = (ctx: Ctx, { condition: given, ...input }: z.output<typeof CreateAlert>) =>
  mutate(ctx, async (tx) => {
    const condition = conditionOf(input.type, given as Condition);
    await check(tx, ctx, input);
    await holdLock(tx, `${ctx.tenant_id}:alerts`);
    if ((await tx.alerts.count({ where: own(ctx) })) >= MOST)
      throw new Refusal('conflict', `A space can have at most ${MOST} alerts. Delete one first.`);
    const row = (await tx.alerts.create({
      data: {
        ...{ id: newId(), ...own(ctx), ...input, condition },
        ...{ watching_since: ctx.now, created_at: ctx.now, updated_at: ctx.now },
      },
    })) as AlertRow;
    await saveSignalSubscription(tx, ctx, row);
    const { type, severity, channel_ids } = row;
    return audited(view(row), entryOf('create', row, { type, condition, severity, channels: channel_ids.length }));
  });

const EDITED = ['name', 'condition', 'route_ids', 'environments', 'severity', 'cooldown_minutes', 'channel_ids'];

/** Another condition or scope begins anew: what was open ends without a message, as when it is turned off. @throws Refusal not_found, validation_error */
export const updateAlert = (ctx: Ctx, { id, condition: given, ...input }: z.output<typeof UpdateAlert>) =>
  mutate(ctx, async (tx) => {
    const before = await lockedAlert(tx, ctx, id);
    const { type } = before;
    const condition = given === undefined ? before.condition : conditionOf(type, given as Condition, before.condition);
    // What it has may name a route that is gone meanwhile: only what is given is judged.
    const { route_ids = [], environments = [], channel_ids = [] } = input;
    await check(tx, ctx, { type, route_ids, environments, channel_ids });
    const enabled = input.enabled ?? before.enabled;
    const next = { ...before, ...input, condition, enabled };
    const anew = changesOf(before, next, ['condition', 'route_ids', 'environments']).length > 0 || enabled !== before.enabled;
    if (anew) await closeSilently(tx, ctx, before.id, enabled ? 'The alert was changed.' : 'The alert was turned off.');
    const row = (await tx.alerts.update({
      where: { id: before.id },
      data: { ...input, condition, ...(anew ? { state: 'ok', watching_since: ctx.now } : {}), updated_at: ctx.now },
    })) as AlertRow;
    await saveSignalSubscription(tx, ctx, row);
    const [first, ...more] = entriesOf(before, row);
    const answer = await shown(tx, ctx, row);
    return first ? audited(answer, first, more) : unchanged(answer);
  });

function entriesOf(before: AlertRow, after: AlertRow): AuditEntry[] {
  const changes = changesOf(before, after, EDITED);
  return [
    ...(before.enabled === after.enabled ? [] : [entryOf(after.enabled ? 'enable' : 'disable', after)]),
    ...(changes.length > 0 ? [{ ...entryOf('update', after), changes }] : []),
  ];
}

/** With its incidents. @throws Refusal not_found */
export const deleteAlert = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = await lockedAlert(tx, ctx, id);
    await saveSignalSubscription(tx, ctx, { ...row, enabled: false }, true);
    await tx.alerts.delete({ where: { id: row.id } });
    return audited({ deleted: true as const }, entryOf('delete', row, { type: row.type }));
  });

/** Until then incidents open and end, but no channel is told. @throws Refusal not_found, validation_error */
export const muteAlert = (ctx: Ctx, { id, until }: z.output<typeof MuteAlert>) =>
  mutate(ctx, async (tx) => {
    const before = await lockedAlert(tx, ctx, id);
    const muted_until = until === null ? null : new Date(until);
    if (muted_until !== null && (muted_until <= ctx.now || muted_until.getTime() > ctx.now.getTime() + 30 * DAY))
      throw invalid('until', 'must be within the next 30 days');
    const row = (await tx.alerts.update({ where: { id: before.id }, data: { muted_until, updated_at: ctx.now } })) as AlertRow;
    const changes = changesOf(before, row, ['muted_until']);
    const answer = await shown(tx, ctx, row);
    return changes.length === 0 ? unchanged(answer) : audited(answer, { ...entryOf('update', row), changes });
  });

type Checked = Pick<AlertRow, 'type' | 'route_ids' | 'environments' | 'channel_ids'>;

async function check(tx: Tx, ctx: Ctx, { type, route_ids, environments, channel_ids }: Checked): Promise<void> {
  checkScope(type, { route_ids, environments });
  await channelsNamed(tx, ctx, channel_ids);
  await checkRoutes(tx, ctx, route_ids);
}

/** @throws Refusal validation_error for a route that this space doesn't have */
export async function checkRoutes(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0 && (await tx.routes.count({ where: { ...own(ctx), id: { in: [...ids] } } })) < ids.length)
    throw invalid('route_ids', "has an ID that doesn't exist in this space");
}

export const entryOf = (action: string, { id, name }: Pick<AlertRow, 'id' | 'name'>, details?: Record<string, unknown>): AuditEntry => ({
  ...{ action, resource_type: 'alert', resource_id: id, name },
  ...(details === undefined ? {} : { details }),
});
