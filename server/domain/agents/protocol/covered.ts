import { defaultEnvironment } from '#server/domain/environments/service.ts';
import { interceptManifest } from '#server/domain/opportunities/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { AgentCaller } from './caller.ts';

/** The environment that an agent works in. One that was deleted meanwhile is the default. */
export async function environmentOf(tx: Tx, ctx: Ctx, { environment }: Pick<AgentCaller, 'environment'>): Promise<string> {
  const named = environment === null ? null : await tx.environments.findFirst({ where: { ...own(ctx), name: environment } });
  return (named ?? (await defaultEnvironment(tx, ctx))).name;
}

/** Hosts that an intercepting agent sends through routes, in the order in which it tries them. */
export async function coveredRoutes(ctx: Ctx, agent: AgentCaller, environment: string) {
  const { routes } = await interceptManifest(ctx, { environment });
  const allowed = new Set(agent.allowed_route_ids);
  return allowed.size === 0 ? routes : routes.filter(({ route_id }) => allowed.has(route_id));
}

/** What the agent answers in place of a secret store (interface rule 35 §10), for all agents or this one. */
export async function interceptRules(tx: Tx, ctx: Ctx, agent: AgentCaller, environment: string) {
  const rows = await tx.migration_intercept_rules.findMany({
    where: {
      ...own(ctx),
      enabled: true,
      OR: [{ agent_id: null }, { agent_id: { in: [agent.id, agent.agent_id] } }],
      migration: { status: { not: 'cancelled' } },
    },
    orderBy: [{ created_at: 'asc' }, { id: 'asc' }],
  });
  return rows.map((row) => ({
    id: row.id,
    match_host: row.match_host,
    match_path_prefix: row.match_path_prefix,
    match_secret_ref: row.match_secret_ref,
    secret_id: row.committed_secret_id,
    environment: row.environment ?? environment,
    response_format: row.response_format,
    allowed_uids: row.allowed_uids.map(Number),
  }));
}

/** Local ports on which the agent authenticates connections to databases (interface rule 35 §11). */
export async function dbListeners(tx: Tx, ctx: Ctx, agent: AgentCaller) {
  const rows = await tx.migration_db_routes.findMany({
    where: {
      ...own(ctx),
      OR: [{ agent_id: null }, { agent_id: { in: [agent.id, agent.agent_id] } }],
      migration: { status: { not: 'cancelled' } },
    },
    orderBy: [{ created_at: 'asc' }, { id: 'asc' }],
  });
  return rows.map((row) => ({
    id: row.id,
    port: row.local_port,
    upstream: {
      host: row.upstream_host,
      port: row.upstream_port,
      database: row.upstream_database,
      username: row.upstream_username,
      tls_mode: row.tls_mode,
    },
    engine: row.protocol,
    credential_secret_id: row.committed_secret_id,
    allowed_uids: row.allowed_uids.map(Number),
  }));
}
