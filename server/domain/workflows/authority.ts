import { z } from 'zod';
import { denyingPolicy, policyDenied, recordDenial } from '#server/domain/policies/service.ts';
import { compileRanges } from '#server/kernel/address.ts';
import { type Capability, capabilitiesOfKey, type MemberRole, memberCapabilities } from '#server/kernel/capabilities.ts';
import { type Actor, auditActor, type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { expandScopes } from '#server/kernel/scopes.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { configOf, type Definition, graphOf, type WorkflowNode } from './definition.shared.ts';

// A workflow calls routes in the name of who published what runs and, where somebody started it, of who did. Both must be allowed to call the route
// themselves, at the moment of each call: a workflow is no way round a role, a key's scopes and addresses, or a tenant policy, and ends with what is behind it.

const NEEDED: Capability = 'proxy:invoke';

const Authority = z.object({
  type: z.enum(['user', 'api_key', 'oauth_client']),
  id: z.uuid(),
  /** The person that an OAuth client acted for. */
  user_id: z.uuid().nullable(),
  /** Where a machine called from, for the list of addresses of its key. */
  ip: z.string().nullable(),
  label: z.string(),
});
export type Authority = z.output<typeof Authority>;

/** The caller as an authority; null for actors that can stand behind nothing, such as jobs. */
export function authorityOf({ actor, ip }: Pick<Ctx, 'actor' | 'ip'>): Authority | null {
  const { type, id, label, user } = auditActor(actor);
  const parsed = Authority.safeParse({ type, id, user_id: user?.id ?? null, ip: type === 'user' ? null : ip, label });
  return parsed.success ? parsed.data : null;
}

/** As it is stored; null when there is none, which allows nothing. */
export function storedAuthority(stored: unknown): Authority | null {
  const parsed = Authority.safeParse(stored);
  return parsed.success ? parsed.data : null;
}

/** The authorities of a run; none, which allows nothing, when one can't be read. */
export function storedAuthorities(stored: unknown): Authority[] {
  const parsed = z.array(Authority).safeParse(stored);
  return parsed.success ? parsed.data : [];
}

/** All of these, each once; none when one is missing. */
export function allOf(...authorities: (Authority | null)[]): Authority[] {
  const known = new Map<string, Authority>();
  for (const one of authorities) {
    if (one === null) return [];
    known.set(`${one.type} ${one.id} ${one.user_id} ${one.ip}`, one);
  }
  return [...known.values()];
}

const routesOf = (nodes: readonly WorkflowNode[]): string[] =>
  nodes.flatMap((node) => (node.type === 'route_request' ? [String(configOf(node).route ?? '')] : []));

/**
 * Whoever writes, publishes, starts or tests nodes that call routes must be able to call those routes. A reference decides only in the run, which asks again.
 * @throws Refusal forbidden, role_denied
 */
export async function mayCallRoutes(tx: Tx, ctx: Ctx, definition: Pick<Definition, 'nodes'>): Promise<void> {
  const routes = routesOf(graphOf(definition).nodes);
  if (routes.length === 0) return;
  if (!ctx.actor.capabilities.has(NEEDED))
    throw new Refusal('forbidden', 'You need permission to call routes (proxy:invoke) to let a workflow call one.');
  const texts = [...new Set(routes.map((route) => route.toLowerCase()))];
  const found = await tx.routes.findMany({
    where: { ...own(ctx), OR: [{ id: { in: texts.filter(isUuid) } }, { slug: { in: texts } }] },
    select: { id: true },
  });
  for (const route of [undefined, ...found]) {
    const policy = await denyingPolicy(ctx, NEEDED, route);
    if (policy) throw policyDenied(ctx, policy, NEEDED);
  }
}

type Place = Pick<Ctx, 'tenant_id' | 'sandbox'>;

/** Why a run may not call the route with this ID now, as a sentence with its next step; null when everybody behind it may. */
export async function reachProblem(place: Place, authorities: readonly Authority[], id: string | null, now: Date): Promise<string | null> {
  if (authorities.length === 0) return "It isn't known who published this workflow. Publish it again, then start a new run.";
  for (const authority of authorities) {
    const actor = await actorOf(place, authority);
    if (!actor)
      return `${authority.label || 'The credential'}, on whose behalf this run calls routes, may no longer call them. Let somebody who may publish the workflow again, then start a new run.`;
    const ctx = { ...systemContext(db(), { ...place, now, label: authority.label }), actor };
    const policy = await denyingPolicy(ctx, NEEDED, id === null ? undefined : { id });
    if (!policy) continue;
    recordDenial(ctx, policy, NEEDED);
    return `The tenant policy ${policy.name} denies ${authority.label}, on whose behalf this run calls routes, to call this one. Change the policy, or let somebody who may publish the workflow again.`;
  }
  return null;
}

/** The ID of the route that the gateway would take for a reference: by ID, else slug, else name. Null for none: the gateway says so. */
export async function routeIdOf({ tenant_id, sandbox }: Place, reference: string): Promise<string | null> {
  const [name, which] = isUuid(reference) ? ['id', 'id = $3::uuid'] : ['name', '(slug = $3 or name = $3)'];
  const { rows } = await sql().query<{ id: string }>({
    name: `workflow-route-by-${name}`,
    text: `select id from routes where tenant_id = $1 and sandbox = $2 and ${which} order by slug is not distinct from $3::text desc limit 1`,
    values: [tenant_id, sandbox, reference],
  });
  return rows[0]?.id ?? null;
}

/** An authority as policies see it; null when it has ended, or may not call routes any more. */
async function actorOf({ tenant_id, sandbox }: Place, { type, id, user_id, ip, label }: Authority): Promise<Actor | null> {
  const { rows } = await sql().query<Row>({ name: 'workflow-authority', text: LOOK_UP, values: [tenant_id, sandbox, type, id, user_id] });
  const [row] = rows;
  if (!row) return null;
  const base = { label, capabilities: new Set([NEEDED]) };
  const byPerson = row.role !== null && memberCapabilities(row.role, { reveal_secrets: false }).has(NEEDED);
  const byKey =
    row.key_live === true &&
    capabilitiesOfKey({ role_ids: row.role_ids ?? [], scoped: row.scoped ?? false, scopes: row.scopes ?? [] }).has(NEEDED) &&
    (!row.ip_allowlist?.length || (ip !== null && compileRanges(row.ip_allowlist)(ip)));
  const key = row.key_id === null ? null : { id: row.key_id, role_ids: row.role_ids ?? [] };
  switch (type) {
    case 'user':
      if (!byPerson || row.role === null) return null;
      return {
        ...{ ...base, type: 'member', id, role: row.role, reveal_secrets: false, migration_reviewer: false, session_id: '' },
        ...{ signed_in_at: new Date(0), mfa_at: null },
      };
    case 'api_key':
      return byKey && key ? { ...base, type: 'api_key', ...key, key_id: label } : null;
    case 'oauth_client': {
      const byClient = row.client_live === true && (row.key_id === null ? expandScopes(row.allowed_scopes ?? []).has(NEEDED) : byKey);
      if (!byClient || (user_id !== null && !byPerson)) return null;
      const person = row.role === null ? null : { email: '', role: row.role };
      return {
        ...{ ...base, type: 'oauth_token', id, client_id: id, token_id: id, user_id, person, source_key: key },
        ...{ family_id: null, scopes: [], step_up_at: null },
      };
    }
  }
}

type Row = {
  role: MemberRole | null;
  key_id: string | null;
  key_live: boolean | null;
  role_ids: string[] | null;
  scoped: boolean | null;
  scopes: string[] | null;
  ip_allowlist: string[] | null;
  client_live: boolean | null;
  allowed_scopes: string[] | null;
};

/** One row, whatever of it is left. */
const LOOK_UP = `select case when u.id is not null then m.role end as role,
    k.id as key_id, k.active and k.revoked_at is null and coalesce(k.expires_at > now(), true) and coalesce(k.revoke_at > now(), true) as key_live,
    k.role_ids, k.scoped, k.scopes, k.ip_allowlist, c.active and c.revoked_at is null as client_live, c.allowed_scopes
  from (select $3::text as type, $4::uuid as id, $5::uuid as user_id) a
    left join oauth_clients c on a.type = 'oauth_client' and c.id = a.id and c.tenant_id = $1 and c.sandbox = $2
    left join api_keys k on k.tenant_id = $1 and k.sandbox = $2 and k.id = case a.type when 'api_key' then a.id else c.source_api_key_id end
    left join memberships m on m.tenant_id = $1 and m.removed_at is null and m.user_id = case a.type when 'user' then a.id else a.user_id end
    left join users u on u.id = m.user_id and u.disabled_at is null`;
