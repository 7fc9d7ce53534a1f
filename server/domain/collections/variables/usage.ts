import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

export type VariableUser = { route_name: string; environment_name: string; in_target: boolean };

/**
 * Route configurations whose templates name a variable of the collection, one variable or any: `{{var:key}}` in member routes,
 * `{{var:slug.key}}` anywhere in the space. At most 6 rows. Only configurations that may name a variable at all are read.
 */
export function usersOfVariables(tx: Tx, ctx: Ctx, collection: { id: string; slug: string }, key?: string): Promise<VariableUser[]> {
  const { qualified, bare } = patternsOf(collection.slug, key ?? '[A-Za-z0-9_]+');
  const { tenant_id, sandbox } = own(ctx);
  return tx.$queryRaw<VariableUser[]>`
    select r.name as route_name, c.environment_name,
           coalesce(c.target_base_url, '') ~ ${qualified} or (r.collection_id = ${collection.id}::uuid and coalesce(c.target_base_url, '') ~ ${bare}) as in_target
    from route_environment_configs c
    join routes r on r.id = c.route_id
    cross join lateral (select concat_ws(' ', c.target_base_url, c.inject_headers_json, c.inject_query_json, c.inject_body_json, c.method_configs) as text) t
    where c.tenant_id = ${tenant_id}::uuid and c.sandbox = ${sandbox} and may_name_variables(c.target_base_url, c.inject_headers_json, c.inject_query_json, c.inject_body_json, c.method_configs)
      and (t.text ~ ${qualified} or (r.collection_id = ${collection.id}::uuid and t.text ~ ${bare}))
    order by in_target desc, r.name, c.environment_name
    limit 6`;
}

/** Ids of the routes, on or off, that have one of these variables in their target in any environment. */
export const routesAimedBy = (tx: Tx, ctx: Ctx, collection: { id: string; slug: string }, keys: readonly string[]): Promise<string[]> =>
  routesNaming(tx, ctx, collection, keys, Prisma.sql`c.target_base_url`, Prisma.empty);

/** Ids of the routes that are on and name one of these variables in any environment: in what they put into calls, or in the address these go to. */
export function servingRoutesNaming(
  tx: Tx,
  ctx: Ctx,
  collection: { id: string; slug: string },
  keys: readonly string[],
  where: 'injected' | 'target',
): Promise<string[]> {
  const text =
    where === 'target'
      ? Prisma.sql`c.target_base_url`
      : Prisma.sql`concat_ws(' ', c.inject_headers_json, c.inject_query_json, c.inject_body_json, c.method_configs)`;
  return routesNaming(tx, ctx, collection, keys, text, Prisma.sql`and r.enabled`);
}

async function routesNaming(
  tx: Tx,
  ctx: Ctx,
  collection: { id: string; slug: string },
  keys: readonly string[],
  text: Prisma.Sql,
  only: Prisma.Sql,
): Promise<string[]> {
  if (keys.length === 0) return [];
  const { qualified, bare } = patternsOf(collection.slug, `(?:${keys.join('|')})`);
  const { tenant_id, sandbox } = own(ctx);
  const rows = await tx.$queryRaw<{ id: string }[]>`
    select r.id::text from routes r
    where r.tenant_id = ${tenant_id}::uuid and r.sandbox = ${sandbox} ${only}
      and exists (
        select 1 from route_environment_configs c cross join lateral (select ${text} as text) t
        where c.route_id = r.id and may_name_variables(c.target_base_url, c.inject_headers_json, c.inject_query_json, c.inject_body_json, c.method_configs)
          and (t.text ~ ${qualified} or (r.collection_id = ${collection.id}::uuid and t.text ~ ${bare})))`;
  return rows.map((row) => row.id);
}

/** Keys and slugs hold no character that is special in a pattern, but for the hyphen, which is not special here. */
function patternsOf(slug: string, name: string) {
  const blank = '(?: |\\t|\\\\t)*';
  return {
    qualified: `\\{\\{${blank}var${blank}:${blank}${slug}\\.${name}${blank}\\}\\}`,
    bare: `\\{\\{${blank}var${blank}:${blank}${name}${blank}\\}\\}`,
  };
}

/** "a, b and more", for the message of a refusal. */
export function namesUsing(users: VariableUser[]): string {
  const names = [...new Set(users.map((u) => `route ${u.route_name} (${u.environment_name})`))];
  return `${names.slice(0, 5).join(', ')}${names.length > 5 ? ' and more' : ''}`;
}
