import { namesUsing, usersOfVariables } from '#server/domain/collections/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { indexBy, loadReferenced } from './name-index.ts';
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
import type { Source } from './source.ts';

/** What the other space has under the names of the source: what would be updated, and what stands in the way. */
export type Target = {
  environments: Map<string, EnvironmentRow>;
  collections: CollectionRow[];
  secrets: SecretRow[];
  clients: ClientRow[];
  routes: RouteRow[];
  /** By id of a collection: a variable that would become a secret while target URLs there use it, and who uses it. */
  inUrls: Map<string, { key: string; users: string }>;
};

export async function counterparts(tx: Tx, ctx: Ctx, source: Source): Promise<Target> {
  const environments = new Map((await environmentsOf(tx, ctx)).map((row) => [row.name, row]));
  const slugged = [...source.collections.values()];
  const collections = await collectionsWhere(tx, ctx, {
    OR: [{ slug: { in: slugged.map((row) => row.slug) } }, { name: { in: slugged.map((row) => row.name) } }],
  });
  const folded = [...source.secrets.values()].map((row) => row.shortcode_name.toLowerCase());
  const alike = await tx.$queryRaw<{ id: string }[]>`
    select id::text from secrets where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and lower(shortcode_name) = any(${folded})`;
  const behindVariables = collections.flatMap((row) => row.variables.flatMap((v) => (v.secret_id ? [v.secret_id] : [])));
  const secrets = await secretsWhere(tx, ctx, { id: { in: [...new Set([...alike.map((row) => row.id), ...behindVariables])] } });
  const clients = await clientsWhere(tx, ctx, { name: { in: [...source.clients.values()].map((row) => row.name) } });
  const wanted = [...source.routes.values()];
  const routes = await routesWhere(tx, ctx, {
    OR: [{ slug: { in: wanted.flatMap((row) => (row.slug === null ? [] : [row.slug])) } }, { name: { in: wanted.map((row) => row.name) } }],
  });
  const named = await loadReferenced(tx, ctx, routes);
  return {
    environments,
    collections: [...indexBy([...named.collections, ...collections], (row) => row.id).values()],
    secrets: [...indexBy([...named.secrets, ...secrets], (row) => row.id).values()],
    clients,
    routes,
    inUrls: await inUrls(tx, ctx, source, collections),
  };
}

/** A secret cannot stand in a URL, so a variable that does stays a value (interface rule 10 §7.3). */
async function inUrls(tx: Tx, ctx: Ctx, source: Source, theirs: readonly CollectionRow[]): Promise<Target['inUrls']> {
  const found: Target['inUrls'] = new Map();
  for (const match of theirs) {
    const mine = [...source.collections.values()].find((one) => one.slug === match.slug && source.picked.has(one.id));
    const hidden = match.variables.filter((v) => v.type === 'value' && mine?.variables.some((w) => w.key === v.key && w.type === 'secret'));
    for (const { key } of hidden) {
      const users = (await usersOfVariables(tx, ctx, match, key)).filter((user) => user.in_target);
      if (users.length > 0) found.set(match.id, { key, users: namesUsing(users) });
    }
  }
  return found;
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
