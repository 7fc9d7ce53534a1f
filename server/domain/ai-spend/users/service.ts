import type { z } from 'zod';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import type { CreateAiUser, ListAiUsers, UpdateAiUser } from './schema.ts';

/** The people and systems that calls are attributed to (interface rule 50 §10). */
export function listUsers(ctx: Ctx, { q, team, enabled, sort, order, ...page }: z.output<typeof ListAiUsers>) {
  const where = {
    ...own(ctx),
    ...(team === undefined ? {} : { team }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(q
      ? {
          OR: (['external_id', 'display_name', 'email'] as const).map((field) => ({
            [field]: { contains: q, mode: 'insensitive' as const },
          })),
        }
      : {}),
  };
  return read(ctx, async (tx) => {
    const total = await tx.ai_attributed_users.count({ where });
    const rows = await pagedRows(
      page,
      total,
      [sort === 'last_seen_at' ? { last_seen_at: { sort: order, nulls: 'last' } } : { [sort]: order }, { id: order }],
      (window) => tx.ai_attributed_users.findMany({ where, ...window, select: { id: true } }),
      (ids) => tx.ai_attributed_users.findMany({ where: { ...own(ctx), id: { in: ids } } }),
    );
    return pageOf(rows, total, page);
  });
}

export const getUser = (ctx: Ctx, { id }: { id: string }) => read(ctx, (tx) => userById(tx, ctx, id));

/** @throws Refusal conflict when the external ID is taken, also by a user that a call made */
export function createUser(ctx: Ctx, input: z.output<typeof CreateAiUser>) {
  return mutate(ctx, async (tx) => {
    const row = await tx.ai_attributed_users
      .create({
        data: {
          ...own(ctx),
          id: newId(),
          ...input,
          created_by: ctx.actor.type === 'member' ? ctx.actor.id : null,
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('A user with this external ID already exists.'));
    return audited(row, { action: 'create', resource_type: 'ai_user', resource_id: row.id, name: row.external_id });
  });
}

/** @throws Refusal not_found */
export function updateUser(ctx: Ctx, { id, ...input }: z.output<typeof UpdateAiUser>) {
  return mutate(ctx, async (tx) => {
    const before = await userById(tx, ctx, id);
    const after = await tx.ai_attributed_users.update({ where: { id: before.id, ...own(ctx) }, data: { ...input, updated_at: ctx.now } });
    return audited(after, {
      action: 'update',
      resource_type: 'ai_user',
      resource_id: after.id,
      name: after.external_id,
      changes: changesOf(before, after, Object.keys(input)),
    });
  });
}

/** What was spent stays with the external ID; the next call of it makes a new user. @throws Refusal not_found */
export function deleteUser(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await userById(tx, ctx, id);
    await tx.ai_attributed_users.delete({ where: { id: row.id, ...own(ctx) } });
    return audited({ deleted: true as const }, { action: 'delete', resource_type: 'ai_user', resource_id: row.id, name: row.external_id });
  });
}

/** @throws Refusal not_found */
export async function userById(tx: Tx, ctx: Ctx, id: string) {
  const row = isUuid(id) ? await tx.ai_attributed_users.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** As by id, holding the row until the transaction ends. */
export async function lockedUser(tx: Tx, ctx: Ctx, id: string) {
  if (isUuid(id))
    await tx.$queryRaw`select 1 from ai_attributed_users where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for no key update`;
  return userById(tx, ctx, id);
}
