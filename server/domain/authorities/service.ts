import { z } from 'zod';
import { callersOf, denyingPolicy, policyDenied, recordDenial } from '#server/domain/policies/service.ts';
import { compileRanges } from '#server/kernel/address.ts';
import { type Capability, capabilitiesOfKey, type MemberRole, memberCapabilities } from '#server/kernel/capabilities.ts';
import { type Actor, auditActor, type Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { PolicyCaller, PolicyCallers } from '#server/kernel/policy-callers.ts';
import { expandScopes } from '#server/kernel/scopes.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';

export { actingFor, passOn } from './acting-for.ts';

// What calls routes by itself (a workflow, an inbound webhook) calls them in the name of who set it up. They must be allowed to call the route themselves, at the
// moment of each call: it is no way round a role, a key's scopes and addresses, or a tenant policy, and ends with what is behind it.

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

/** Several, as they are stored; none, which allows nothing, when one can't be read. */
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

/**
 * Whoever has something call routes must be able to call those routes. Without a route only what holds for all of them is asked.
 * `what` names the caller to be, with its article. @throws Refusal forbidden, role_denied
 */
export async function assertMayCall(ctx: Ctx, routes: readonly { id: string; name?: string }[], what: string): Promise<void> {
  if (!ctx.actor.capabilities.has(NEEDED))
    throw new Refusal('forbidden', `You need permission to call routes (proxy:invoke) to let ${what} call one.`);
  for (const route of [undefined, ...routes]) {
    const policy = await denyingPolicy(ctx, NEEDED, route);
    if (policy) throw policyDenied(ctx, policy, NEEDED);
  }
}

type Place = Pick<Ctx, 'tenant_id' | 'sandbox'>;

/** `unknown`: nobody stands behind the call; `ended`: they may no longer call routes; `policy`: the tenant policy with this name denies them this route. */
export type ReachProblem = { why: 'unknown' } | { why: 'ended'; label: string } | { why: 'policy'; label: string; policy: string };

/** `callers`: everybody behind the call as tenant policies see them. The gateway asks with them what else policies deny or hide. */
export type Reach = { problem: ReachProblem } | { problem: null; callers: PolicyCallers };

/** Whether each of these authorities may call the route with this ID now, and if not why. Counts what a policy denies. */
export async function reachOf(place: Place, authorities: readonly Authority[], id: string, now: Date): Promise<Reach> {
  const callers: PolicyCaller[] = [];
  for (const authority of authorities) {
    const { label } = authority;
    const actor = await actorOf(place, authority);
    if (!actor) return { problem: { why: 'ended', label } };
    const ctx = { ...systemContext(db(), { ...place, now, label }), actor };
    const policy = await denyingPolicy(ctx, NEEDED, { id });
    if (policy) {
      recordDenial(ctx, policy, NEEDED);
      return { problem: { why: 'policy', label, policy: policy.name } };
    }
    callers.push(...callersOf(actor));
  }
  const [first, ...others] = callers;
  return first ? { problem: null, callers: [first, ...others] } : { problem: { why: 'unknown' } };
}

/** An authority as policies see it; null when it has ended, or may not call routes any more. */
async function actorOf({ tenant_id, sandbox }: Place, { type, id, user_id, ip, label }: Authority): Promise<Actor | null> {
  const { rows } = await sql().query<Row>({ name: 'authority', text: LOOK_UP, values: [tenant_id, sandbox, type, id, user_id] });
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
