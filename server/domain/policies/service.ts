import type { Capability } from '#server/kernel/capabilities.ts';
import { type HotCtx, spaceOf } from '#server/kernel/context.ts';
import { processState } from '#server/kernel/process-state.ts';
import { sql } from '#server/platform/sql.ts';

type Policy = {
  name: string;
  actions: string[];
  subjects: { all?: boolean; roles?: string[]; user_ids?: string[]; api_key_ids?: string[]; oauth_client_ids?: string[] };
  resources: string[];
  space: string;
};

/**
 * The tenant policy that denies a capability to this caller here, or null (interface rule 24 §6). Deny always wins. Rules are kept for one second at
 * most, so a change acts on the next request.
 *
 * No operation makes a policy yet. Before one does, two checks are missing and belong to it: a rule limited to resources (none is looked at here) in the
 * verb that knows the resource, and a rule on `proxy:invoke` on the data plane, in gateway/phases/admit.ts, from rules compiled into the snapshot.
 */
export async function denyingPolicy(ctx: HotCtx, capability: Capability): Promise<Policy | null> {
  const [resource] = capability.split(':');
  const rules = await policiesOf(ctx.tenant_id);
  return (
    rules.find(
      (p) =>
        p.resources.length === 0 &&
        (p.space === 'both' || p.space === spaceOf(ctx.sandbox)) &&
        (p.actions.includes(capability) || p.actions.includes(`${resource}:*`)) &&
        concerns(p, ctx),
    ) ?? null
  );
}

function concerns({ subjects }: Policy, { actor }: HotCtx): boolean {
  if (subjects.all) return true;
  if (actor.type === 'member') return Boolean(subjects.roles?.includes(actor.role) || subjects.user_ids?.includes(actor.id));
  if (actor.type === 'api_key') return Boolean(subjects.api_key_ids?.includes(actor.id));
  if (actor.type === 'oauth_token') return Boolean(subjects.oauth_client_ids?.includes(actor.id));
  return false;
}

const cache = processState('policies', () => new Map<string, { at: number; rules: Policy[] }>());

async function policiesOf(tenantId: string): Promise<Policy[]> {
  const now = Date.now();
  const kept = cache.get(tenantId);
  if (kept && now - kept.at < 1_000) return kept.rules;
  const { rows } = await sql().query<Policy>({
    name: 'policies',
    text: 'select name, actions, subjects, resources, space from tenant_policies where tenant_id = $1 and enabled',
    values: [tenantId],
  });
  if (cache.size > 10_000) cache.clear();
  cache.set(tenantId, { at: now, rules: rows });
  return rows;
}
