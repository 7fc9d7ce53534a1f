import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { namedByColumns, shareCounts } from './references.ts';
import { secretById } from './store.ts';

export type Reference = { kind: string; id: string; name: string | null; environment: string | null; field: string; by: 'id' | 'name' };

/** What refers to a secret, and how often the gateway injected it. */
export function secretUsage(ctx: Ctx, input: { id: string }) {
  return read(ctx, async (tx) => {
    const { id } = await secretById(tx, ctx, input.id);
    return {
      references: await referencesTo(tx, ctx, id),
      ...(await callsOf(tx, ctx, id)),
      shares: (await shareCounts(tx, ctx, [{ id }])).get(id) ?? 0,
      wrap_tokens: await liveWrapTokens(tx, ctx, id),
      shared_calls: await sharedCalls(tx, ctx, id),
    };
  });
}

/** Gateway tokens that stand for the secret and can be used. */
export const liveWrapTokens = (tx: Tx, ctx: Ctx, secretId: string): Promise<number> =>
  tx.wrap_tokens.count({
    where: { ...own(ctx), secret_id: secretId, revoked_at: null, OR: [{ expires_at: null }, { expires_at: { gt: ctx.now } }] },
  });

/** Everything that names the secret in configuration, with names for people. */
export async function referencesTo(tx: Tx, ctx: Ctx, secretId: string): Promise<Reference[]> {
  const rows = await tx.secret_references.findMany({
    where: { ...own(ctx), secret_id: secretId },
    orderBy: [{ kind: 'asc' }, { referrer_id: 'asc' }],
  });
  const variables = await tx.collection_variables.findMany({
    where: { ...own(ctx), secret_id: secretId },
    select: { id: true, key: true, collection: { select: { slug: true } } },
  });
  const ids = (kind: RegExp) => rows.flatMap((r) => (kind.test(r.kind) ? [r.referrer_id] : []));
  const names = await namesOf(tx, ctx, {
    routes: ids(/^route/),
    credentials: ids(/^client_credential$/),
    servers: ids(/^mcp_server$/),
    secrets: ids(/^oauth2_secret$/),
    webhooks: ids(/^webhook$/),
    workflows: ids(/^workflow$/),
  });
  const columns = await namedByColumns(tx, ctx, [secretId]);
  const shares = await tx.$queryRaw<{ id: string; email: string; environment: string }[]>`
    select id::text, recipient_email as email, environment_name as environment from secret_shares s
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and secret_id = ${secretId}::uuid and share_state(s, ${ctx.now}::timestamptz) = 'active'
    order by created_at, id`;
  const seen = new Set(variables.map((v) => v.id));
  return [
    ...shares.map((s) => ({ kind: 'share', id: s.id, name: s.email, environment: s.environment, field: 'secret_id', by: 'id' as const })),
    ...rows
      .filter((r) => !seen.has(r.referrer_id))
      .map((r) => ({
        kind: r.kind,
        id: r.referrer_id,
        name: names.get(r.referrer_id) ?? null,
        environment: r.referrer_env,
        field: r.field_path,
        by: r.by === 'name' ? ('name' as const) : ('id' as const),
      })),
    ...columns.map(({ secret_id: _, ...one }) => ({ ...one, by: 'id' as const })),
    ...variables.map((v) => ({
      kind: 'collection_variable',
      id: v.id,
      name: `${v.collection.slug}.${v.key}`,
      environment: null,
      field: 'secret_id',
      by: 'id' as const,
    })),
  ];
}

/** Calls of other workspaces that injected the secret through a share, by host and day. */
const sharedCalls = async (tx: Tx, ctx: Ctx, secretId: string) => {
  const since = new Date(ctx.now.getTime() - 29 * 86_400_000).toISOString().slice(0, 10);
  return tx.$queryRaw<{ share_id: string; recipient: string; day: string; host: string; calls: number; last_at: Date }[]>`
    select d.share_id::text, coalesce(s.recipient_tenant_name, s.recipient_email) as recipient, to_char(d.day, 'YYYY-MM-DD') as day, d.host, d.calls::float8 as calls, d.last_at
    from secret_share_days d join secret_shares s on s.id = d.share_id
    where s.tenant_id = ${ctx.tenant_id}::uuid and s.sandbox = ${ctx.sandbox} and s.secret_id = ${secretId}::uuid and d.day >= ${since}::date
    order by d.day desc, d.calls desc, d.host limit 500`;
};

/** Names of the referring routes (named by route or by one configuration of it), clients, MCP servers, connections, webhooks and workflows. */
async function namesOf(
  tx: Tx,
  ctx: Ctx,
  {
    routes,
    credentials,
    servers,
    secrets,
    webhooks,
    workflows,
  }: Record<'routes' | 'credentials' | 'servers' | 'secrets' | 'webhooks' | 'workflows', string[]>,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  if (routes.length > 0) {
    for (const r of await tx.routes.findMany({ where: { ...own(ctx), id: { in: routes } }, select: { id: true, name: true } }))
      names.set(r.id, r.name);
    const configs = await tx.route_environment_configs.findMany({
      where: { ...own(ctx), id: { in: routes } },
      select: { id: true, route: { select: { name: true } } },
    });
    for (const c of configs) names.set(c.id, c.route.name);
  }
  if (credentials.length > 0) {
    const found = await tx.client_credentials.findMany({
      where: { ...own(ctx), id: { in: credentials } },
      select: { id: true, client: { select: { name: true } } },
    });
    for (const c of found) names.set(c.id, c.client.name);
  }
  const byId = (some: readonly string[]) => ({ where: { ...own(ctx), id: { in: [...some] } }, select: { id: true, name: true } });
  const named = [
    ...(servers.length > 0 ? await tx.mcp_servers.findMany(byId(servers)) : []),
    ...(secrets.length > 0 ? await tx.secrets.findMany(byId(secrets)) : []),
    ...(webhooks.length > 0 ? await tx.webhooks.findMany(byId(webhooks)) : []),
    ...(workflows.length > 0 ? await tx.workflows.findMany(byId(workflows)) : []),
  ];
  for (const { id, name } of named) names.set(id, name);
  return names;
}

/** Calls of the last 30 days that injected the secret, under any name it had. */
async function callsOf(tx: Tx, ctx: Ctx, secretId: string): Promise<{ last_used_at: Date | null; calls_30d: number }> {
  const since = new Date(ctx.now.getTime() - 29 * 86_400_000).toISOString().slice(0, 10);
  const [row] = await tx.$queryRaw<{ n: number; last: Date | null }[]>`
    select coalesce(sum(calls) filter (where day >= ${since}::date), 0)::int as n, max(last_at) as last from call_days
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind = 'secret' and ref_id = ${secretId}::uuid`;
  return { last_used_at: row?.last ?? null, calls_30d: row?.n ?? 0 };
}
