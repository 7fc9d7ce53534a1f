import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type Breaking, breakingOf } from './breaking.ts';
import type { Source } from './gather.ts';
import {
  type ClientRow,
  type CollectionRow,
  clientsWhere,
  collectionsWhere,
  type EnvironmentRow,
  environmentsOf,
  type RouteRow,
  routesWhere,
  type SecretRow,
  secretsWhere,
} from './rows.ts';

/** What the other space has under the names of the source: what would be updated, and what stands in the way. */
export type Target = {
  environments: Map<string, EnvironmentRow>;
  collections: CollectionRow[];
  secrets: SecretRow[];
  clients: ClientRow[];
  routes: RouteRow[];
  breaking: Breaking;
};

export async function counterparts(tx: Tx, ctx: Ctx, source: Source): Promise<Target> {
  const environments = new Map((await environmentsOf(tx, ctx)).map((row) => [row.name, row]));
  const slugged = [...source.collections.values()];
  const collections = await collectionsWhere(tx, ctx, {
    OR: [{ slug: { in: slugged.map((row) => row.slug) } }, { name: { in: slugged.map((row) => row.name) } }],
  });
  const folded = [...source.secrets.values()].map((row) => row.shortcode_name.toLowerCase());
  const named = await tx.$queryRaw<{ id: string }[]>`
    select id::text from secrets where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and lower(shortcode_name) = any(${folded})`;
  const behindVariables = collections.flatMap((row) => row.variables.flatMap((v) => (v.secret_id ? [v.secret_id] : [])));
  const secrets = await secretsWhere(tx, ctx, { id: { in: [...new Set([...named.map((row) => row.id), ...behindVariables])] } });
  const clients = await clientsWhere(tx, ctx, { name: { in: [...source.clients.values()].map((row) => row.name) } });
  const wanted = [...source.routes.values()];
  const routes = await routesWhere(tx, ctx, {
    OR: [{ slug: { in: wanted.flatMap((row) => (row.slug === null ? [] : [row.slug])) } }, { name: { in: wanted.map((row) => row.name) } }],
  });
  return { environments, collections, secrets, clients, routes, breaking: await breakingOf(tx, ctx, source, collections, secrets) };
}

/** In order of id, as every change of several rows takes them; held until the end, so that what was judged is what is changed. */
export async function hold(
  tx: Tx,
  ctx: Ctx,
  rows: { environments: string[]; collections: string[]; secrets: string[]; clients: string[]; routes: string[] },
) {
  const { tenant_id, sandbox } = ctx;
  await tx.$queryRaw`select 1 from environments where tenant_id = ${tenant_id}::uuid and sandbox = ${sandbox} and id = any(${rows.environments}::uuid[]) order by id for no key update`;
  await tx.$queryRaw`select 1 from collections where tenant_id = ${tenant_id}::uuid and sandbox = ${sandbox} and id = any(${rows.collections}::uuid[]) order by id for no key update`;
  await tx.$queryRaw`select 1 from secrets where tenant_id = ${tenant_id}::uuid and sandbox = ${sandbox} and id = any(${rows.secrets}::uuid[]) order by id for no key update`;
  await tx.$queryRaw`select 1 from clients where tenant_id = ${tenant_id}::uuid and sandbox = ${sandbox} and id = any(${rows.clients}::uuid[]) order by id for no key update`;
  await tx.$queryRaw`select 1 from routes where tenant_id = ${tenant_id}::uuid and sandbox = ${sandbox} and id = any(${rows.routes}::uuid[]) order by id for update`;
}
