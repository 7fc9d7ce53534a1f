import { providerOf } from '#server/ai/providers/catalogue.ts';
import { confirmMove } from '#server/domain/reveals/service.ts';
import { retargetManaged } from '#server/domain/routes/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { originOf } from '#server/kernel/moves.ts';
import { credentialOf, MANAGED_BY } from './managed-route.ts';
import type { AgentRow } from './store.ts';

// Where an agent with a provider calls, and with which keys. The route that came with the agent holds both.

type KeyFields = {
  upstream?: string | null | undefined;
  upstream_secret_id?: string | undefined;
  upstream_secret_ids?: readonly string[] | undefined;
};

/** A route of one's own says where calls go and what it sends. @throws Refusal validation_error */
export function assertWithoutProvider({ upstream, upstream_secret_id, upstream_secret_ids = [] }: KeyFields): void {
  if (upstream != null) throw invalid('upstream', 'is only for agents with a provider: a route of your own has a target_base_url');
  if (upstream_secret_id !== undefined) throw withoutProvider('upstream_secret_id');
  if (upstream_secret_ids.length > 0) throw withoutProvider('upstream_secret_ids');
}

const withoutProvider = (field: string) =>
  invalid(field, 'is only for agents with a provider: a route of your own says which secret it sends');

/** Keys take turns in the place of the agent's own. @throws Refusal validation_error */
export function assertNoKeys(upstream_secret_ids: readonly string[] = []): void {
  if (upstream_secret_ids.length > 0)
    throw invalid('upstream_secret_ids', 'is only for agents that were created with an upstream_secret_id, whose place these keys take');
}

/** Whether the agent was created with a key. */
export const hasKey = async (tx: Tx, ctx: Ctx, { primary_route_id }: AgentRow): Promise<boolean> =>
  primary_route_id !== null && (await secretsOf(tx, ctx, primary_route_id)).length > 0;

const secretsOf = async (tx: Tx, ctx: Ctx, routeId: string): Promise<string[]> => {
  const where = { ...own(ctx), kind: 'route_environment', referrer_id: routeId };
  const rows = await tx.secret_references.findMany({ where, select: { secret_id: true }, distinct: ['secret_id'] });
  return rows.map(({ secret_id }) => secret_id);
};

/** A secret that may only be sent to some hosts goes to none of the others (interface rule 30 §13). @throws Refusal validation_error */
export async function checkPins(tx: Tx, ctx: Ctx, target: string, secretId: string, field: string): Promise<void> {
  const secret = await tx.secrets.findFirst({ where: { ...own(ctx), id: secretId }, select: { allowed_hosts: true } });
  const pins = secret?.allowed_hosts as string[] | null | undefined;
  const { hostname } = new URL(target);
  const parent = hostname.slice(hostname.indexOf('.') + 1);
  if (pins && !pins.some((pin) => (pin.startsWith('*.') ? pin.slice(2) === parent : pin === hostname)))
    throw invalid(field, `names a secret that must not be sent to ${hostname}: see its allowed_hosts`);
}

/**
 * Points the agent's route at another base URL, which was checked; null is the provider's own. Keys that stay stored follow to another origin only as
 * `confirmMove` allows. Null when nothing changes. @throws Refusal validation_error, what `confirmMove` and a change of the route throw
 */
export async function moveUpstream(tx: Tx, ctx: Ctx, agent: AgentRow, upstream: string | null) {
  const provider = agent.provider === null ? undefined : providerOf(agent.provider);
  if (!provider || agent.primary_route_id === null) {
    if (upstream === null) return null;
    throw invalid('upstream', "can't be set: this agent has no route of a provider. Create another agent");
  }
  const target = upstream ?? provider.origin;
  if (target === null) throw invalid('upstream', `is required with provider ${provider.id}`);
  const base = { ...own(ctx), route_id: agent.primary_route_id, is_base: true, route: { managed_by: MANAGED_BY } };
  const stored = await tx.route_environment_configs.findFirst({ where: base, select: { target_base_url: true } });
  if (!stored) throw invalid('upstream', "can't be changed: the route that came with this agent is gone. Create another agent");
  const before = stored.target_base_url ?? '';
  if (before === target) return null;
  const keys = await secretsOf(tx, ctx, agent.primary_route_id);
  const secrets = await tx.secrets.findMany({
    where: { ...own(ctx), id: { in: [...keys, ...agent.upstream_secret_ids] } },
    select: { id: true, name: true },
  });
  for (const { id } of secrets) await checkPins(tx, ctx, target, id, 'upstream');
  const details = await confirmMove(tx, ctx, {
    moved: originOf(before) === originOf(target) ? [] : ['upstream'],
    kept: [...(keys.length > 0 ? ['upstream_secret_id'] : []), ...(agent.upstream_secret_ids.length > 0 ? ['upstream_secret_ids'] : [])],
    again: [],
    reveal: { class: 'A', policy: 'secret:reveal' },
    about: secrets,
    route: 'ai_gateways.agents.update',
  });
  // What is signed for a region is signed for that of the new address.
  const { upstream_auth } = { upstream_auth: undefined, ...credentialOf(provider, target, keys[0] ?? null) };
  const { entry } = await retargetManaged(tx, ctx, agent.primary_route_id, { target_base_url: target, upstream_auth });
  return { details, entry };
}
