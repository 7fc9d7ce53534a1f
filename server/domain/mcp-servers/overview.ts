import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { type ServerRow, withAddresses } from './store.ts';

/** Every server of the space with what happened there, for the dashboard. */
export const overviewOfServers = (ctx: Ctx, { gateway_id }: { gateway_id?: string | undefined }) =>
  read(ctx, async (tx) => {
    const rows = await tx.mcp_servers.findMany({
      where: { ...own(ctx), status: { not: 'archived' }, ...(gateway_id === undefined ? {} : { gateway_id }) },
      include: { gateway: { select: { name: true } } },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
      take: 500,
    });
    const ids = rows.map(({ id }) => id);
    const tools = await toolCounts(tx, ctx, ids);
    const pending = await tx.mcp_approvals.groupBy({
      by: ['mcp_server_id'],
      where: { ...own(ctx), mcp_server_id: { in: ids }, status: 'pending', expires_at: { gt: ctx.now } },
      _count: { _all: true },
    });
    const calls = await callCounts(tx, ctx, ids);
    const servers = await withAddresses(tx, ctx, rows as unknown as ServerRow[]);
    return servers.map((server, i) => ({
      ...server,
      gateway_name: rows[i]?.gateway.name ?? '',
      tools_discovered: tools.get(server.id)?.discovered ?? 0,
      tools_changed: tools.get(server.id)?.changed ?? 0,
      pending_approvals: pending.find((one) => one.mcp_server_id === server.id)?._count._all ?? 0,
      calls_24h: calls.get(server.id)?.calls ?? 0,
      refusals_24h: calls.get(server.id)?.refusals ?? 0,
    }));
  });

async function toolCounts(tx: Tx, ctx: Ctx, ids: string[]) {
  const rows = await tx.$queryRaw<{ id: string; discovered: number; changed: number }[]>`
    select mcp_server_id::text as id, count(*) filter (where discovered or operation is not null)::int as discovered,
      count(*) filter (where pinned_hash is not null and upstream_hash is distinct from pinned_hash)::int as changed
    from mcp_tools where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and mcp_server_id = any(${ids}::uuid[]) group by 1`;
  return new Map(rows.map((row) => [row.id, row]));
}

async function callCounts(tx: Tx, ctx: Ctx, ids: string[]) {
  const since = new Date(ctx.now.getTime() - 86_400_000);
  const rows = await tx.$queryRaw<{ id: string; calls: number; refusals: number }[]>`
    select mcp_server_id::text as id, count(*)::int as calls, count(*) filter (where status = 'refused')::int as refusals
    from ai_request_logs where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ts > ${since} and plane = 'mcp'
      and operation = 'mcp.tools/call' and mcp_server_id = any(${ids}::uuid[]) group by 1`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** Gateways that aren't archived, by name. */
export const gatewayChoices = (ctx: Ctx) =>
  read(ctx, (tx) =>
    tx.ai_gateways.findMany({
      where: { ...own(ctx), status: { not: 'archived' } },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
      select: { id: true, name: true },
      take: 500,
    }),
  );
