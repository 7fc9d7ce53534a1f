import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { wholeList } from '#server/kernel/page.ts';
import { newestBuild } from './builds.ts';
import type { AgentMode } from './modes.shared.ts';
import type { AgentHealth, AgentMetricsQuery } from './schema.ts';
import { shown } from './service.ts';
import { type AgentRecord, agentById } from './store.ts';

const HOUR = 3_600_000;
const SESSIONS = 50;

/** The list of the dashboard: what each agent runs on and does. */
export const browseAgents = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const rows = (await tx.agents.findMany({ where: own(ctx), orderBy: [{ created_at: 'desc' }, { id: 'desc' }] })) as AgentRecord[];
    return wholeList(await withCounts(tx, ctx, rows));
  });

/** @throws Refusal not_found */
export const inspectAgent = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await agentById(tx, ctx, id);
    const mine = { ...own(ctx), agent_id: row.id };
    const [counted] = await withCounts(tx, ctx, [row]);
    const open_sessions = await tx.agent_sessions.count({ where: { ...mine, revoked_at: null, expires_at: { gt: ctx.now } } });
    const old = await tx.agent_keys.findFirst({ where: { ...mine, expires_at: { gt: ctx.now } }, select: { expires_at: true } });
    return {
      ...(counted as NonNullable<typeof counted>),
      health: row.health as z.input<typeof AgentHealth> | null,
      open_sessions,
      previous_secret_expires_at: old?.expires_at ?? null,
    };
  });

/** Every route when none is named; calls are what heartbeats counted. */
async function withCounts(tx: Tx, ctx: Ctx, rows: readonly AgentRecord[]) {
  const routes = await tx.routes.count({ where: { ...own(ctx), enabled: true, managed_by: null } });
  const sums = await tx.agent_metrics.groupBy({
    by: ['agent_id'],
    where: { ...own(ctx), agent_id: { in: rows.map(({ id }) => id) }, at: { gt: new Date(ctx.now.getTime() - 24 * HOUR) } },
    _sum: { requests: true },
  });
  const requests = new Map(sums.map(({ agent_id, _sum }) => [agent_id, _sum.requests ?? 0]));
  const newest = await newestBuild();
  return rows.map((row) => ({
    ...shown(row, ctx.now),
    health: row.health as z.input<typeof AgentHealth> | null,
    routes: row.allowed_route_ids.length > 0 ? row.allowed_route_ids.length : routes,
    requests_24h: requests.get(row.id) ?? 0,
    outdated: row.version !== null && newest !== null && row.version !== newest,
  }));
}

/** The newest 50. @throws Refusal not_found */
export const listSessions = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const agent = await agentById(tx, ctx, id);
    const rows = await tx.agent_sessions.findMany({
      where: { ...own(ctx), agent_id: agent.id },
      orderBy: [{ issued_at: 'desc' }, { id: 'desc' }],
      take: SESSIONS,
    });
    return wholeList(
      rows.map((row) => ({ ...row, mode: row.mode as AgentMode, open: row.revoked_at === null && row.expires_at > ctx.now })),
    );
  });

/** One point per heartbeat, the oldest first. @throws Refusal not_found */
export const agentMetrics = (ctx: Ctx, { id, hours }: z.output<typeof AgentMetricsQuery>) =>
  read(ctx, async (tx) => {
    const agent = await agentById(tx, ctx, id);
    const since = new Date(ctx.now.getTime() - hours * HOUR);
    const points = await tx.agent_metrics.findMany({
      where: { ...own(ctx), agent_id: agent.id, at: { gt: since } },
      orderBy: { at: 'asc' },
    });
    return { points };
  });
