import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { secretById } from './store.ts';

export type Reference = { kind: string; id: string; name: string | null; environment: string | null; field: string; by: 'id' | 'name' };

/** What refers to a secret, and how often the gateway injected it. */
export async function secretUsage(ctx: Ctx, input: { id: string }) {
  const { secret, references } = await read(ctx, async (tx) => {
    const secret = await secretById(tx, ctx, input.id);
    return { secret, references: await referencesTo(tx, ctx, secret.id) };
  });
  return { references, ...(await callsOf(ctx, secret)), shares: 0, wrap_tokens: 0 };
}

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
  const names = await namesOf(tx, ctx, { routes: ids(/^route/), credentials: ids(/^client_credential$/) });
  const seen = new Set(variables.map((v) => v.id));
  return [
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

/** Names of the referring routes (named by route or by one configuration of it) and clients. */
async function namesOf(
  tx: Tx,
  ctx: Ctx,
  { routes, credentials }: { routes: string[]; credentials: string[] },
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
  return names;
}

/** Milliseconds the log may be searched for; a busy workspace gets no number rather than a slow page. */
const PATIENCE_MS = 1_500;

/** Calls of the last 30 days that injected the secret, by id or by name. */
async function callsOf(ctx: Ctx, secret: { id: string; name: string }): Promise<{ last_used_at: Date | null; calls_30d: number | null }> {
  const since = new Date(ctx.now.getTime() - 30 * 86_400_000);
  const count = read(ctx, async (tx) => {
    await tx.$executeRawUnsafe(`set local statement_timeout = ${PATIENCE_MS}`);
    return tx.$queryRaw<{ n: bigint; last: Date | null }[]>`
      select count(*) as n, max(ts) as last from request_logs
      where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ts >= ${since} and secrets_used && array[${secret.id}, ${secret.name}]::text[]`;
  });
  const [row] = await count.catch((error: unknown) => {
    if (/57014|statement timeout/.test(String((error as Error).message))) return [];
    throw error;
  });
  return row ? { last_used_at: row.last, calls_30d: Number(row.n) } : { last_used_at: null, calls_30d: null };
}
