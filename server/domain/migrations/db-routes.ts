import type { z } from 'zod';
import { appendCritical } from '#server/domain/audit-logs/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { assertCommittedHere } from './committed-secrets.ts';
import { requireReviewer } from './review.ts';
import type { CreateDbRoute, DbRoute } from './schema.ts';
import { itemById, lockedMigration, migrationById } from './store.ts';

/** @throws Refusal migration_not_found */
export const listDbRoutes = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const { id: migration_id } = await migrationById(tx, ctx, id);
    const rows = await tx.migration_db_routes.findMany({
      where: { ...own(ctx), migration_id },
      orderBy: [{ created_at: 'asc' }, { id: 'asc' }],
    });
    return { routes: rows.map((row) => ({ ...row, allowed_uids: row.allowed_uids.map(Number) })) as unknown as z.input<typeof DbRoute>[] };
  });

/** @throws Refusal migration_not_found, conflict, port_in_use, validation_error */
export function createDbRoute(ctx: Ctx, { id, ...input }: z.output<typeof CreateDbRoute>) {
  requireReviewer(ctx);
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:migration_db_routes:${ctx.sandbox}`);
    const migration = await lockedMigration(tx, ctx, id);
    if (migration.status === 'cancelled') throw new Refusal('conflict', 'This migration is cancelled, so it can have no routes.');
    await assertCommittedHere(tx, ctx, migration.id, input.committed_secret_id);
    const item = input.secret_migration_item_id;
    if (item !== null)
      await itemById(tx, ctx, { id: migration.id, itemId: item }).catch(() => {
        throw invalid('secret_migration_item_id', 'no such item in this migration');
      });
    const taken = await tx.migration_db_routes.findFirst({
      where: {
        ...own(ctx),
        local_port: input.local_port,
        ...(input.agent_id === null ? {} : { OR: [{ agent_id: input.agent_id }, { agent_id: null }] }),
      },
      select: { id: true },
    });
    if (taken) throw new Refusal('port_in_use', `Another route already listens on port ${input.local_port}. Choose another local port.`);
    const routeId = newId();
    const { protocol, local_port, agent_id } = input;
    await appendCritical(tx, ctx, {
      action: 'migration.db_proxy_route.create',
      resource_type: 'migration_db_proxy_route',
      resource_id: routeId,
      details: { migration_id: migration.id, protocol, local_port, agent_id },
    });
    await tx.migration_db_routes.create({
      data: {
        ...own(ctx),
        ...input,
        id: routeId,
        migration_id: migration.id,
        allowed_uids: input.allowed_uids.map(BigInt),
        created_by: ctx.actor.id,
        created_at: ctx.now,
      },
      select: { id: true },
    });
    return unchanged({ id: routeId });
  });
}

/** @throws Refusal migration_not_found, not_found */
export function deleteDbRoute(ctx: Ctx, { id, routeId }: { id: string; routeId: string }) {
  requireReviewer(ctx);
  return mutate(ctx, async (tx) => {
    const migration = await lockedMigration(tx, ctx, id);
    const row = isUuid(routeId)
      ? await tx.migration_db_routes.findFirst({ where: { ...own(ctx), id: routeId, migration_id: migration.id } })
      : null;
    if (!row) throw notFound();
    await remove(tx, ctx, row);
    return unchanged({ deleted: true as const });
  });
}

/** All routes of a migration that ends, with an entry each. */
export async function removeAllRoutes(tx: Tx, ctx: Ctx, migrationId: string): Promise<void> {
  const rows = await tx.migration_db_routes.findMany({ where: { ...own(ctx), migration_id: migrationId } });
  for (const row of rows) await remove(tx, ctx, row);
}

async function remove(
  tx: Tx,
  ctx: Ctx,
  row: { id: string; migration_id: string; protocol: string; local_port: number; agent_id: string | null },
) {
  const { migration_id, protocol, local_port, agent_id } = row;
  await appendCritical(tx, ctx, {
    action: 'migration.db_proxy_route.delete',
    resource_type: 'migration_db_proxy_route',
    resource_id: row.id,
    details: { migration_id, protocol, local_port, agent_id },
  });
  await tx.migration_db_routes.delete({ where: { id: row.id }, select: { id: true } });
}
