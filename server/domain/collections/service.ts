import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import { confirmOpened } from '#server/domain/secrets/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { pageOf } from '#server/kernel/page.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { type CreateCollection, collectionSlugFrom, type ListCollections, type UpdateCollection } from './schema.ts';
import { namesUsing, usersOfVariables } from './variables/usage.ts';

export { namesUsing, routesAimedBy, servingRoutesNaming, usersOfVariables } from './variables/usage.ts';

/** A page of collections, by name. */
export function listCollections(ctx: Ctx, query: z.output<typeof ListCollections>) {
  return read(ctx, async (tx) => {
    const { ids, total } = await listIds(tx, ctx, { ...query, table: 'collections' });
    return pageOf(inOrder(ids, await tx.collections.findMany({ where: { ...own(ctx), id: { in: ids } } })), total, query);
  });
}

/** One collection with the number of its members. */
export function getCollection(ctx: Ctx, input: { id: string }) {
  return read(ctx, async (tx) => {
    const row = await collectionById(tx, ctx, input.id);
    const where = { ...own(ctx), collection_id: row.id };
    return {
      ...row,
      route_count: await tx.routes.count({ where }),
      secret_count: await tx.secrets.count({ where }),
      client_count: await tx.clients.count({ where }),
      variable_count: await tx.collection_variables.count({ where }),
    };
  });
}

/** @throws Refusal plan_limit 402, conflict when the name or the given slug is taken */
export function createCollection(ctx: Ctx, input: z.output<typeof CreateCollection>) {
  return mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'collections');
    if (await tx.collections.findFirst({ where: { ...own(ctx), name: input.name }, select: { id: true } }))
      throw new Refusal('conflict', 'A collection with this name already exists.');
    const slug = input.slug ?? (await freeSlug(tx, ctx, collectionSlugFrom(input.name)));
    const row = await tx.collections
      .create({ data: { ...input, ...own(ctx), id: newId(), slug, owner_ids: makers(ctx), created_at: ctx.now, updated_at: ctx.now } })
      .catch(onUnique('A collection with this name or slug already exists.'));
    return audited(row, { action: 'create', resource_type: 'collection', resource_id: row.id, name: row.name, details: { slug } });
  });
}

/** Who makes a collection answers for it until others are chosen; a key answers for nothing. */
const makers = ({ actor }: Ctx): string[] => (actor.type === 'member' ? [actor.id] : []);

/** The slug is written once: templates name it. */
export function updateCollection(ctx: Ctx, { id, ...input }: z.output<typeof UpdateCollection>) {
  return mutate(ctx, async (tx) => {
    const before = await collectionById(tx, ctx, id);
    if (input.slug !== undefined && input.slug !== before.slug) throw invalid('slug', "can't be changed once it is set");
    const after = await tx.collections
      .update({ where: { id: before.id, ...own(ctx) }, data: { ...input, updated_at: ctx.now } })
      .catch(onUnique('A collection with this name already exists.'));
    const changes = changesOf(before, after, Object.keys(input));
    return audited(after, { action: 'update', resource_type: 'collection', resource_id: after.id, name: after.name, changes });
  });
}

/** Members stay and lose their collection. @throws Refusal in_use while a template names one of its variables */
export function deleteCollection(ctx: Ctx, input: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await collectionById(tx, ctx, input.id);
    const users = await usersOfVariables(tx, ctx, row);
    if (users.length > 0)
      throw new Refusal('in_use', `Variables of this collection are used by ${namesUsing(users)}. Remove those references first.`);
    const held = await tx.secrets.findMany({ where: { ...own(ctx), collection_id: row.id }, select: { id: true } });
    await confirmOpened(
      tx,
      ctx,
      held.map(({ id }) => ({ id, from: row.id, to: null })),
    );
    const members = {
      where: { ...own(ctx), collection_id: row.id },
      data: { collection_id: null, updated_at: ctx.now },
      select: { id: true, name: true },
    };
    await bumpMembers(tx, ctx, row.id);
    const [routes, secrets, clients] = [
      await tx.routes.updateManyAndReturn(members),
      await tx.secrets.updateManyAndReturn(members),
      await tx.clients.updateManyAndReturn(members),
    ];
    await tx.secret_references.deleteMany({
      where: { ...own(ctx), kind: 'collection_variable', referrer_id: { in: await variableIds(tx, ctx, row.id) } },
    });
    await tx.collections.delete({ where: { id: row.id, ...own(ctx) } });
    return audited(
      { deleted: true as const },
      {
        action: 'delete',
        resource_type: 'collection',
        resource_id: row.id,
        name: row.name,
        details: { detached: { routes: routes.length, secrets: secrets.length, clients: clients.length } },
      },
      leaving('route', routes, row.id),
      leaving('secret', secrets, row.id),
      leaving('client', clients, row.id),
    );
  });
}

const leaving = (resource_type: string, members: { id: string; name: string }[], collectionId: string): AuditEntry[] =>
  members.map(({ id, name }) => ({
    action: 'update',
    resource_type,
    resource_id: id,
    name,
    changes: [{ field: 'collection_id', from: collectionId, to: null }],
  }));

/** For path parameters. @throws Refusal not_found */
export async function collectionById(tx: Tx, ctx: Ctx, id: string) {
  const row = isUuid(id) ? await tx.collections.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** As `collectionById`, holding the row until the transaction ends; rows that refer to it stay free. */
export async function lockedCollection(tx: Tx, ctx: Ctx, id: string) {
  if (isUuid(id))
    await tx.$queryRaw`select 1 from collections where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for no key update`;
  return collectionById(tx, ctx, id);
}

/** Every change of what a collection gives its routes moves their configuration version. */
export const bumpMembers = (tx: Tx, ctx: Ctx, collectionId: string) =>
  tx.$executeRaw`update routes set config_version = config_version + 1 where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and collection_id = ${collectionId}::uuid`;

const variableIds = async (tx: Tx, ctx: Ctx, collectionId: string) =>
  (await tx.collection_variables.findMany({ where: { ...own(ctx), collection_id: collectionId }, select: { id: true } })).map((v) => v.id);

async function freeSlug(tx: Tx, ctx: Ctx, base: string): Promise<string> {
  await holdLock(tx, `${ctx.tenant_id}:${ctx.sandbox}:collection:${base}`);
  for (let n = 1; ; n++) {
    const slug = n === 1 ? base : `${base.slice(0, 62 - String(n).length)}-${n}`;
    if (!(await tx.collections.findFirst({ where: { ...own(ctx), slug }, select: { id: true } }))) return slug;
  }
}
