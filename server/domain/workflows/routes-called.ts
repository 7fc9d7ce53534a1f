import { assertMayCall } from '#server/domain/authorities/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { sql } from '#server/platform/sql.ts';
import { configOf, type Definition, graphOf, type WorkflowNode } from './definition.shared.ts';

/**
 * Whoever writes, publishes, starts or tests nodes that call routes must be able to call those routes. A reference decides only in the run, which asks again.
 * @throws Refusal forbidden, role_denied
 */
export async function mayCallRoutes(ctx: Ctx, definition: Pick<Definition, 'nodes'>): Promise<void> {
  const named = routesOf(graphOf(definition).nodes);
  if (named.length === 0) return;
  const ids = await Promise.all([...new Set(named)].map((route) => routeIdOf(ctx, route)));
  await assertMayCall(
    ctx,
    ids.flatMap((id) => (id === null ? [] : { id })),
    'a workflow',
  );
}

const routesOf = (nodes: readonly WorkflowNode[]): string[] =>
  nodes.flatMap((node) => (node.type === 'route_request' ? [String(configOf(node).route ?? '')] : []));

/**
 * The ID of the route that a text names: an ID, else an exact slug, else an exact name, as for the gateway (interface rule 12 §3). Null for none. All of
 * workflows asks here, so that what is called is what was judged.
 */
export async function routeIdOf({ tenant_id, sandbox }: Pick<Ctx, 'tenant_id' | 'sandbox'>, reference: string): Promise<string | null> {
  const [name, which] = isUuid(reference) ? ['id', 'id = $3::uuid'] : ['name', '(slug = $3 or name = $3)'];
  const { rows } = await sql().query<{ id: string }>({
    name: `workflow-route-by-${name}`,
    text: `select id from routes where tenant_id = $1 and sandbox = $2 and ${which} order by slug is not distinct from $3::text desc limit 1`,
    values: [tenant_id, sandbox, reference],
  });
  return rows[0]?.id ?? null;
}
