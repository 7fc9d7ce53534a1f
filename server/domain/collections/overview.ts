import type { z } from 'zod';
import { namedMembers } from '#server/domain/people/service.ts';
import { figuresOfRoutes } from '#server/domain/request-logs/service.ts';
import { driftOf } from '#server/domain/routes/membership/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
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
    const { secrets, clients, variables } = await membersOf(
      tx,
      ctx,
      rows.map(({ id }) => id),
    );
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

type Count = { collection_id: string; count: number };

/** How many secrets, clients and variables are in each; counted where they lie, since a collection may hold thousands. */
async function membersOf(tx: Tx, ctx: Ctx, ids: readonly string[]) {
  const secrets = await tx.$queryRaw<Count[]>`select collection_id::text, count(*)::int as count from secrets
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and collection_id = any(${ids}::uuid[]) group by 1`;
  const clients = await tx.$queryRaw<Count[]>`select collection_id::text, count(*)::int as count from clients
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and collection_id = any(${ids}::uuid[]) group by 1`;
  const variables = await tx.$queryRaw<Count[]>`select collection_id::text, count(*)::int as count from collection_variables
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and collection_id = any(${ids}::uuid[]) group by 1`;
  const byId = (counts: Count[]) => new Map(counts.map(({ collection_id, count }) => [collection_id, count]));
  return { secrets: byId(secrets), clients: byId(clients), variables: byId(variables) };
}
