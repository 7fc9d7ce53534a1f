import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { lockRoute, routeByRef, type StoredRoute } from '../store.ts';
import { confirmActions } from './guarding.ts';
import { assertMayUse, materialOf } from './material.ts';
import { MOST_FIELD_ACTIONS } from './rules.shared.ts';
import type { CreateFieldAction, FieldActionSettings, UpdateFieldAction } from './schema.ts';
import { settingsProblem } from './settings.ts';

/** The field actions of a route in the order in which they run. */
export const listFieldActions = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const route = await routeByRef(tx, ctx, id);
    return (await actionsOf(tx, ctx, route.id)).map(shown);
  });

/** @throws Refusal not_found, conflict for a route that has thirty, validation_error, and role_denied or forbidden as `assertMayUse` */
export function createFieldAction(ctx: Ctx, { id, ...input }: z.output<typeof CreateFieldAction>) {
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, id);
    const { n, last } = await countedActions(tx, ctx, route.id);
    if (n >= MOST_FIELD_ACTIONS) throw new Refusal('conflict', `A route can have at most ${MOST_FIELD_ACTIONS} field actions.`);
    const settings: FieldActionSettings = {
      ...input,
      key_name: input.key_name ?? null,
      data_role: input.data_role ?? null,
      content_type: input.content_type ?? (input.location === 'body' ? 'application/json' : null),
      mode: input.mode ?? 'strict',
      mask: input.mask ?? null,
      signature_header: input.signature_header ?? null,
      signature_member: input.signature_member ?? null,
      sort_order: input.sort_order ?? last + 1,
      enabled: input.enabled ?? true,
    };
    const data = await judged(tx, ctx, settings, settings.enabled);
    const before = (await actionsOf(tx, ctx, route.id)).map(shown);
    await confirmActions(tx, ctx, before, [...before, data]);
    const row = await tx.route_field_actions.create({
      data: { ...own(ctx), ...data, id: newId(), route_id: route.id, created_at: ctx.now, updated_at: ctx.now },
    });
    await touch(tx, ctx, route.id);
    return audited(shown(row), entry(route, 'action.create', row));
  });
}

/** @throws Refusal not_found, validation_error, and role_denied or forbidden unless it only ends or moves the action */
export function updateFieldAction(ctx: Ctx, { id, actionId, ...input }: z.output<typeof UpdateFieldAction>) {
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, id);
    const row = shown(await actionById(tx, ctx, route.id, actionId));
    for (const field of ['direction', 'action', 'location'] as const)
      if (input[field] !== undefined && input[field] !== row[field]) throw invalid(field, "can't be changed; add another action instead");
    const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
    const settings: FieldActionSettings = { ...row, ...given };
    const turnedOff = settings.enabled === false && Object.keys(given).every((field) => field === 'enabled' || field === 'sort_order');
    const data = turnedOff ? settings : await judged(tx, ctx, settings, settings.enabled);
    const before = (await actionsOf(tx, ctx, route.id)).map(shown);
    await confirmActions(
      tx,
      ctx,
      before,
      before.map((one) => (one.id === row.id ? data : one)),
    );
    const { direction: _, action: __, location: ___, ...changed } = data;
    const after = await tx.route_field_actions.update({
      where: { id: row.id, ...own(ctx) },
      data: { ...columnsOf(changed), updated_at: ctx.now },
    });
    await touch(tx, ctx, route.id);
    return audited(shown(after), entry(route, 'action.update', after));
  });
}

/** @throws Refusal not_found */
export function deleteFieldAction(ctx: Ctx, input: { id: string; actionId: string }) {
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, input.id);
    const row = await actionById(tx, ctx, route.id, input.actionId);
    const before = (await actionsOf(tx, ctx, route.id)).map(shown);
    await confirmActions(
      tx,
      ctx,
      before,
      before.filter((one) => one.id !== row.id),
    );
    await tx.route_field_actions.delete({ where: { id: row.id, ...own(ctx) } });
    await touch(tx, ctx, route.id);
    return audited({ deleted: true as const, id: row.id }, entry(route, 'action.delete', row));
  });
}

/** In the order in which they run. */
export const actionsOf = (tx: Tx, ctx: Ctx, route_id: string) =>
  tx.route_field_actions.findMany({ where: { ...own(ctx), route_id }, orderBy: [...IN_ORDER] });
export const IN_ORDER = [
  { sort_order: 'asc' },
  { created_at: 'asc' },
  { id: 'asc' },
] as const satisfies Prisma.route_field_actionsOrderByWithRelationInput[];

type Row = Awaited<ReturnType<typeof actionsOf>>[number];
/** The columns with closed sets are written by this folder only, from the schema. */
export const shown = (row: Row) => row as Omit<Row, keyof FieldActionSettings> & FieldActionSettings;

/** The settings with the name of their key or vault as it is stored, when they may be saved. */
async function judged(tx: Tx, ctx: Ctx, settings: FieldActionSettings, serves: boolean): Promise<FieldActionSettings> {
  const problem = settingsProblem(settings);
  if (problem) throw invalid(...problem);
  const material = await materialOf(tx, ctx, settings);
  if (serves) await assertMayUse(ctx, settings.action, material);
  return columnsOf({ ...settings, key_name: material?.name ?? null });
}

/** Only what may be written: a row that was read has more. */
function columnsOf<S extends Partial<FieldActionSettings>>(settings: S): S {
  return Object.fromEntries(COLUMNS.flatMap((name) => (name in settings ? [[name, settings[name]]] : []))) as S;
}
const COLUMNS = [
  'direction',
  'action',
  'location',
  'selectors',
  'key_name',
  'data_role',
  'content_type',
  'mode',
  'mask',
  'signature_header',
  'signature_member',
  'sort_order',
  'enabled',
] as const satisfies (keyof FieldActionSettings)[];
export const settingsOfAction = (row: FieldActionSettings): FieldActionSettings => columnsOf(row);

async function countedActions(tx: Tx, ctx: Ctx, route_id: string): Promise<{ n: number; last: number }> {
  const { _count, _max } = await tx.route_field_actions.aggregate({
    where: { ...own(ctx), route_id },
    _count: true,
    _max: { sort_order: true },
  });
  return { n: _count, last: _max.sort_order ?? 0 };
}

/** An action of another route is none of this one. */
async function actionById(tx: Tx, ctx: Ctx, route_id: string, id: string): Promise<Row> {
  const row = isUuid(id) ? await tx.route_field_actions.findFirst({ where: { ...own(ctx), route_id, id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** The route has changed: gateways and editors that hold it notice. */
const touch = (tx: Tx, ctx: Ctx, id: string) =>
  tx.routes.update({
    where: { id, ...own(ctx) },
    data: { config_version: { increment: 1 }, updated_at: ctx.now },
    select: { id: true },
  });

const entry = ({ id, name, slug }: StoredRoute, change: string, row: Row): AuditEntry => ({
  action: 'update',
  resource_type: 'route',
  resource_id: id,
  name,
  details: { slug, change, field_action_id: row.id, field_action: columnsOf(shown(row)) },
});
