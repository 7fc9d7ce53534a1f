import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { places } from '#server/platform/geoip.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { inCollection } from '#server/platform/lists/sql.ts';
import type { Admission } from './admission.ts';
import type { CredentialKind, ListClients } from './schema.ts';

type Query = z.output<typeof ListClients>;
type Row = Prisma.clientsGetPayload<Record<string, never>>;

/** One page of clients with what the wire adds to them, and the true total. */
export async function findPage(tx: Tx, ctx: Ctx, query: Query) {
  const { type, enabled, collection_id, q, ...asked } = query;
  const { ids, total } = await listIds(tx, ctx, {
    ...asked,
    table: 'clients',
    filters: [
      type !== undefined && { column: 'type', is: type, mostly: 'server' },
      enabled !== undefined && { column: 'enabled', is: enabled, mostly: true },
      collection_id !== undefined && inCollection(collection_id),
    ],
    q: q?.trim(),
  });
  const rows = await tx.clients.findMany({ where: { ...own(ctx), id: { in: ids } } });
  return { rows: inOrder(ids, await withCounts(tx, ctx, rows)), total };
}

/** @throws Refusal not_found */
export async function clientById(tx: Tx, ctx: Ctx, id: string): Promise<Row> {
  const row = isUuid(id) ? await tx.clients.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/**
 * The client under a row lock: changes of one client and of its credentials queue up here. The weaker lock lets a route that is being changed
 * refer to the client meanwhile; with the stronger one the two would wait for each other. @throws Refusal not_found
 */
export async function lockedClient(tx: Tx, ctx: Ctx, id: string): Promise<Row> {
  if (!isUuid(id)) throw notFound();
  await tx.$queryRaw`select 1 from clients where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for no key update`;
  return clientById(tx, ctx, id);
}

/** Rows with their credentials and routes counted. */
export async function withCounts(tx: Tx, ctx: Ctx, rows: Row[]) {
  const ids = rows.map((r) => r.id);
  const credentials = await tx.$queryRaw<{ client_id: string; kind: CredentialKind; n: number; matched: Date | null }[]>`
    select c.client_id::text, c.kind, count(*)::int as n, max((select last_used_at from credential_usage u where u.id = c.id)) as matched
    from client_credentials c
    where c.tenant_id = ${ctx.tenant_id}::uuid and c.sandbox = ${ctx.sandbox} and c.client_id = any(${ids}::uuid[])
    group by c.client_id, c.kind`;
  const routes = await tx.$queryRaw<{ client_id: string; n: number }[]>`
    select client_id::text, count(distinct route_id)::int as n from route_client_assignments
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and client_id = any(${ids}::uuid[])
    group by client_id`;
  const byClient = Map.groupBy(credentials, (c) => c.client_id);
  const routeCount = new Map(routes.map((r) => [r.client_id, r.n]));
  const known = await places();
  return rows.map((row) => {
    const kinds = byClient.get(row.id) ?? [];
    const matched = kinds.flatMap((k) => (k.matched ? [k.matched.getTime()] : []));
    return {
      ...asRecord(row),
      credential_count: kinds.reduce((sum, k) => sum + k.n, 0),
      credential_kinds: Object.fromEntries(kinds.map((k) => [k.kind, k.n])),
      assigned_route_count: routeCount.get(row.id) ?? 0,
      ip_country: known?.countryOf(row.ip_address) ?? null,
      last_matched_at: matched.length === 0 ? null : new Date(Math.max(...matched)),
    };
  });
}

/** A row as the wire types it. */
export const asRecord = (row: Row) => ({ ...row, type: row.type as 'server' | 'user', ip_notes: row.ip_notes as Record<string, unknown> });

/** Where the client may call, by route and environment name. */
export async function assignmentsOf(tx: Tx, ctx: Ctx, clientId: string) {
  const pairs = await assignedPairs(tx, ctx, clientId);
  return pairs.map(({ environment_id: _, ...pair }) => pair);
}

export type Pair = { route_id: string; route_name: string; environment_id: string; environment_name: string };

/** Where a client is assigned, by route and environment. In one statement: a route that goes meanwhile takes its rows along whole. */
export const assignedPairs = (tx: Tx, ctx: Ctx, clientId: string): Promise<Pair[]> =>
  tx.$queryRaw`
    select a.route_id::text, r.name as route_name, a.environment_id::text, e.name as environment_name from route_client_assignments a
      join routes r on r.id = a.route_id join environments e on e.id = a.environment_id
    where a.tenant_id = ${ctx.tenant_id}::uuid and a.sandbox = ${ctx.sandbox} and a.client_id = ${clientId}::uuid order by r.name, e.name`;

/** Where these clients are assigned. */
export const admissionsOf = (tx: Tx, ctx: Ctx, clientIds: readonly string[]): Promise<Admission[]> =>
  tx.route_client_assignments.findMany({
    where: { ...own(ctx), client_id: { in: [...clientIds] } },
    select: { client_id: true, route_id: true, environment_id: true },
  });

/** Raises the version of every route the client is assigned to; in order of id, so that two such calls never wait for each other. */
export const bumpRoutesOf = (tx: Tx, ctx: Ctx, clientId: string) =>
  tx.$executeRaw`
    with held as (
      select id from routes
      where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
        and id in (select route_id from route_client_assignments where client_id = ${clientId}::uuid)
      order by id for no key update
    )
    update routes set config_version = config_version + 1 from held where routes.id = held.id`;
