import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

export type VariableUser = { route_name: string; environment_name: string; in_target: boolean };

/**
 * Route configurations whose templates name a variable of the collection, one variable or any: `{{var:key}}` in member routes,
 * `{{var:slug.key}}` anywhere in the space. At most 6 rows. Only configurations that may name a variable at all are read.
 */
export function usersOfVariables(tx: Tx, ctx: Ctx, collection: { id: string; slug: string }, key?: string): Promise<VariableUser[]> {
  // Keys and slugs hold no character that is special in a pattern, but for the hyphen, which is not special here.
  const blank = '(?: |\\t|\\\\t)*';
  const name = key ?? '[A-Za-z0-9_]+';
  const qualified = `\\{\\{${blank}var${blank}:${blank}${collection.slug}\\.${name}${blank}\\}\\}`;
  const bare = `\\{\\{${blank}var${blank}:${blank}${name}${blank}\\}\\}`;
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

/** "a, b and more", for the message of a refusal. */
export function namesUsing(users: VariableUser[]): string {
  const names = [...new Set(users.map((u) => `route ${u.route_name} (${u.environment_name})`))];
  return `${names.slice(0, 5).join(', ')}${names.length > 5 ? ' and more' : ''}`;
}
