import type { z } from 'zod';
import { namedMembers } from '#server/domain/people/service.ts';
import { figuresOfRoutes } from '#server/domain/request-logs/service.ts';
import { driftOf } from '#server/domain/routes/membership/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import type { OverviewCollections } from './schema.ts';

/**
 * What the cards of a page of collections show. The statements are as many as for one collection, but for the drift of those that expect something;
 * ids that are nobody's here are left out.
 */
export function overviewCollections(ctx: Ctx, { ids }: z.output<typeof OverviewCollections>) {
  return read(ctx, async (tx) => {
    const rows = await tx.collections.findMany({ where: { ...own(ctx), id: { in: ids } } });
    const known = { ...own(ctx), collection_id: { in: rows.map(({ id }) => id) } };
    const routes = await tx.routes.findMany({ where: known, select: { id: true, collection_id: true } });
    const figures = await figuresOfRoutes(
      tx,
      ctx,
      routes.map(({ id }) => id),
    );
    const select = { collection_id: true } as const;
    const secrets = counted(await tx.secrets.findMany({ where: known, select }));
    const clients = counted(await tx.clients.findMany({ where: known, select }));
    const variables = counted(await tx.collection_variables.findMany({ where: known, select }));
    const ownerIds = [...new Set(rows.flatMap(({ owner_ids }) => owner_ids))];
    const people = await namedMembers(tx, ctx, { ids: ownerIds, most: ownerIds.length });
    const drifting = new Map<string, number>();
    for (const row of rows.filter(({ expected_environments }) => expected_environments.length > 0))
      drifting.set(row.id, (await driftOf(tx, ctx, row)).filter(({ in_sync }) => !in_sync).length);
    return rows.map(({ id, owner_ids }) => {
      const of = routes.filter((route) => route.collection_id === id).map((route) => figures.get(route.id));
      return {
        collection_id: id,
        route_count: of.length,
        secret_count: secrets.get(id) ?? 0,
        client_count: clients.get(id) ?? 0,
        variable_count: variables.get(id) ?? 0,
        drifting: drifting.get(id) ?? null,
        owners: people.filter((person) => owner_ids.includes(person.id)),
        calls: of.reduce((sum, figure) => sum + (figure?.calls ?? 0), 0),
        errors: of.reduce((sum, figure) => sum + (figure?.errors ?? 0), 0),
      };
    });
  });
}

function counted(rows: readonly { collection_id: string | null }[]): Map<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const { collection_id } of rows) counts.set(collection_id, (counts.get(collection_id) ?? 0) + 1);
  return counts;
}
