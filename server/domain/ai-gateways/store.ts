import type { z } from 'zod';
import { shownRoutingPolicy } from '#server/ai/routing-policy.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { AiAgent } from './agents.schema.ts';
import type { AiGateway } from './schema.ts';
import { shownUsd } from './values.schema.ts';

export type GatewayRow = Prisma.ai_gatewaysGetPayload<object>;
export type AgentRow = Prisma.ai_agentsGetPayload<object>;

/** Whatever its status. @throws Refusal not_found */
export async function gatewayById(tx: Tx, ctx: Ctx, id: string): Promise<GatewayRow> {
  const row = isUuid(id) ? await tx.ai_gateways.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** Whatever its status. @throws Refusal not_found */
export async function agentById(tx: Tx, ctx: Ctx, id: string): Promise<AgentRow> {
  const row = isUuid(id) ? await tx.ai_agents.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** As by ID, holding the row until the transaction ends. */
export async function lockedGateway(tx: Tx, ctx: Ctx, id: string): Promise<GatewayRow> {
  const found = await gatewayById(tx, ctx, id);
  await tx.$queryRaw`select 1 from ai_gateways where id = ${found.id}::uuid for no key update`;
  return gatewayById(tx, ctx, id);
}

export async function lockedAgent(tx: Tx, ctx: Ctx, id: string): Promise<AgentRow> {
  const found = await agentById(tx, ctx, id);
  await tx.$queryRaw`select 1 from ai_agents where id = ${found.id}::uuid for no key update`;
  return agentById(tx, ctx, id);
}

/** A gateway as answers show it. */
export const shownGateway = (row: GatewayRow) =>
  ({
    ...row,
    budget_daily_usd: shownUsd(row.budget_daily_usd),
    budget_monthly_usd: shownUsd(row.budget_monthly_usd),
  }) as unknown as z.input<typeof AiGateway>;

/** The address below which the workspace's agents are called; empty when it has no name. */
export async function agentsUrl(tx: Tx, ctx: Ctx): Promise<string> {
  const tenant = await tx.tenants.findUnique({ where: { id: ctx.tenant_id }, select: { slug: true } });
  return tenant ? `${proxyUrl(tenant.slug, spaceOf(ctx.sandbox))}/v1/ai` : '';
}

/** What answers show of agents beside their rows. */
export type Places = {
  /** `agentsUrl` */
  base: string;
  /** Base URLs by the route that came with an agent. */
  upstreams: ReadonlyMap<string, string>;
};

/** Where these agents are called, and where they call: the target of the route that came with each. */
export async function placesOf(tx: Tx, ctx: Ctx, agents: readonly AgentRow[]): Promise<Places> {
  const ids = agents.flatMap(({ provider, primary_route_id: id }) => (provider !== null && id !== null ? [id] : []));
  const rows =
    ids.length === 0
      ? []
      : await tx.route_environment_configs.findMany({
          where: { ...own(ctx), route_id: { in: ids }, is_base: true },
          select: { route_id: true, target_base_url: true },
        });
  return {
    base: await agentsUrl(tx, ctx),
    upstreams: new Map(rows.flatMap(({ route_id, target_base_url: url }) => (url === null ? [] : [[route_id, url]]))),
  };
}

/** An agent as answers show it. */
export const shownAgent = (row: AgentRow, { base, upstreams }: Places) =>
  ({
    ...row,
    upstream: (row.provider !== null && row.primary_route_id !== null && upstreams.get(row.primary_route_id)) || null,
    budget_daily_usd: shownUsd(row.budget_daily_usd),
    budget_monthly_usd: shownUsd(row.budget_monthly_usd),
    cache_similarity_threshold: Number(row.cache_similarity_threshold).toFixed(3),
    pii_detokenize_response: row.pii_response_mode === 'detokenize',
    routing_policy: shownRoutingPolicy(row.routing_policy),
    agent_url: base === '' ? '' : `${base}/${row.slug}`,
  }) as unknown as z.input<typeof AiAgent>;

/** Who made it: a person's ID, or that of the key or client. */
export const creatorOf = ({ actor }: Ctx): string | null => (actor.type === 'oauth_token' ? (actor.user_id ?? actor.id) : actor.id);

/** A boost as its column takes it. */
export const boostColumn = (boost: object | null | undefined) =>
  boost === null ? Prisma.DbNull : (boost as Prisma.InputJsonObject | undefined);
