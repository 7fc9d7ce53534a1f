import { assertUsesSecrets, denyingPolicy, policyDenied, secretsScopeMissing } from '#server/domain/policies/service.ts';
import type { Capability } from '#server/kernel/capabilities.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import type { AgentRow } from './store.ts';

/** What an agent names that belongs to somebody: each must be this space's, and not archived. */
type References = Pick<
  AgentRow,
  | 'gateway_id'
  | 'primary_route_id'
  | 'fallback_route_ids'
  | 'upstream_secret_ids'
  | 'fallback_agent_id'
  | 'pii_redact_policy_id'
  | 'firewall_policy_id'
  | 'guardrail_webhook_secret_id'
  | 'cmek_key_id'
> & { upstream_secret_id: string | null; weighted_route_ids: readonly string[] };

/**
 * Refuses what is unknown, of another workspace or space, or archived: one answer for all. `written` says which fields the caller sets: what broke elsewhere
 * doesn't stop another change. @throws Refusal validation_error, forbidden
 */
export async function checkReferences(tx: Tx, ctx: Ctx, agent: References, written: ReadonlySet<string>): Promise<void> {
  const foreign = (field: string, noun: string) => invalid(field, `foreign_reference: names no ${noun} of this space`);
  const secrets = (['upstream_secret_id', 'guardrail_webhook_secret_id'] as const).filter(
    (field) => written.has(field) && agent[field] !== null,
  );
  for (const field of secrets) await checkSecret(tx, ctx, agent[field] ?? '', () => foreign(field, 'secret'));
  if (written.has('upstream_secret_ids'))
    for (const [i, id] of agent.upstream_secret_ids.entries())
      await checkSecret(tx, ctx, id, () => foreign(`upstream_secret_ids[${i}]`, 'secret'));
  await checkRoutes(tx, ctx, agent, written, foreign);
  const one = async (field: keyof References, noun: string, find: (id: string) => Promise<unknown>) => {
    const id = agent[field];
    if (written.has(field) && typeof id === 'string' && !(await find(id))) throw foreign(field, noun);
  };
  const select = { id: true } as const;
  await one('fallback_agent_id', 'other agent of the same gateway', (id) =>
    tx.ai_agents.findFirst({ where: { ...own(ctx), id, gateway_id: agent.gateway_id, status: { not: 'archived' } }, select }),
  );
  await one('pii_redact_policy_id', 'PII policy', (id) => tx.ai_pii_policies.findFirst({ where: { ...own(ctx), id }, select }));
  await one('firewall_policy_id', 'firewall policy', (id) => tx.ai_firewall_policies.findFirst({ where: { ...own(ctx), id }, select }));
  await one('cmek_key_id', 'crypto key that encrypts', (id) =>
    tx.crypto_keys.findFirst({ where: { ...own(ctx), id, deleted_at: null, key_type: 'aes256-gcm', managed_by: 'tenant' }, select }),
  );
}

/**
 * Who names a secret must be able to read it, and to bind it to a route: else a key that can't could have it sent to a host of its own.
 * @throws Refusal forbidden, role_denied
 */
async function checkSecret(tx: Tx, ctx: Ctx, id: string, foreign: () => Error): Promise<void> {
  if (!ctx.actor.capabilities.has('secret:read')) throw secretsScopeMissing(ctx, 'an AI agent');
  assertHolds(ctx, ['route:create'], 'Naming a secret');
  // A deletion waits, or was first.
  await tx.$queryRaw`select 1 from secrets where id = ${id}::uuid for key share`;
  const secret = await tx.secrets.findFirst({ where: { ...own(ctx), id }, select: { id: true, shortcode_name: true } });
  if (!secret) throw foreign();
  await assertUsesSecrets(ctx, [secret.id], 'an AI agent');
}

/** Callers of the agent call its routes, so whoever names one must be able to call it. */
async function checkRoutes(
  tx: Tx,
  ctx: Ctx,
  agent: References,
  written: ReadonlySet<string>,
  foreign: (field: string, noun: string) => Error,
): Promise<void> {
  const named = [
    ...(written.has('primary_route_id') && agent.primary_route_id !== null ? [['primary_route_id', agent.primary_route_id] as const] : []),
    ...(written.has('fallback_route_ids') ? agent.fallback_route_ids.map((id, i) => [`fallback_route_ids[${i}]`, id] as const) : []),
    ...(written.has('routing_policy') ? agent.weighted_route_ids.map((id) => ['routing_policy.route_weights', id] as const) : []),
  ];
  if (named.length === 0) return;
  assertHolds(ctx, ['proxy:invoke'], 'Naming a route');
  const rows = await tx.routes.findMany({
    where: { ...own(ctx), id: { in: named.map(([, id]) => id) } },
    select: { id: true, name: true, managed_by: true },
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const [field, id] of named) {
    const route = byId.get(id);
    if (!route) throw foreign(field, 'route');
    const policy = await denyingPolicy(ctx, 'proxy:invoke', route);
    if (policy) throw policyDenied(ctx, policy, 'proxy:invoke');
  }
  const weighted = new Set([agent.primary_route_id, ...agent.fallback_route_ids]);
  if (agent.weighted_route_ids.some((id) => !weighted.has(id)))
    throw invalid('routing_policy.route_weights', 'may only name primary_route_id and fallback_route_ids');
}

function assertHolds({ actor }: Ctx, needed: readonly Capability[], doing: string): void {
  const missing = needed.find((capability) => !actor.capabilities.has(capability));
  if (missing)
    throw new Refusal(
      actor.type === 'member' ? 'role_denied' : 'forbidden',
      `${doing} takes the capability ${missing}, which this credential lacks.`,
    );
}
