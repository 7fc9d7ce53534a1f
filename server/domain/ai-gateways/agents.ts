import type { z } from 'zod';
import { PROVIDERS, providerOf } from '#server/ai/providers/catalogue.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { loosened } from '#server/kernel/loosening.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { env } from '#server/platform/env.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { adviceOn, checkAddress, checkMerged, composition, type Merged } from './agent-rules.ts';
import type { CreateAiAgent, ListAiAgents, UpdateAiAgent } from './agents.schema.ts';
import { agentEntry, assertNotArchived } from './entries.ts';
import { ofStatus } from './gateways.ts';
import { composeRoute } from './managed-route.ts';
import { checkOutputSchema } from './output-schema.ts';
import { AI_AGENT_PROTECTIONS } from './protections.ts';
import { checkReferences } from './references.ts';
import {
  type AgentRow,
  agentById,
  boostColumn,
  creatorOf,
  gatewayById,
  lockedAgent,
  lockedGateway,
  type Places,
  placesOf,
  shownAgent,
} from './store.ts';
import { assertNoKeys, assertWithoutProvider, checkPins, hasKey, moveUpstream } from './upstream.ts';

/** The agents of a gateway; without a status asked for, those that aren't archived. @throws Refusal not_found */
export const listAgents = (ctx: Ctx, { id, status, ...query }: z.output<typeof ListAiAgents>) =>
  read(ctx, async (tx) => {
    const gateway = await gatewayById(tx, ctx, id);
    const { ids, total } = await listIds(tx, ctx, {
      ...query,
      table: 'ai_agents',
      filters: [{ where: (bind) => `gateway_id = ${bind(gateway.id, 'uuid')}` }, ofStatus('ai_agents', status)],
    });
    const rows = await tx.ai_agents.findMany({ where: { ...own(ctx), id: { in: ids } } });
    const places = await placesOf(tx, ctx, rows);
    return pageOf(
      inOrder(ids, rows).map((row) => shownAgent(row, places)),
      total,
      query,
    );
  });

/** @throws Refusal not_found */
export const getAgent = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await agentById(tx, ctx, id);
    return shownAgent(row, await placesOf(tx, ctx, [row]));
  });

/**
 * With a provider, the agent's route is made in the same transaction.
 * @throws Refusal validation_error, forbidden or role_denied to use the secret or a route, plan_limit, conflict when the slug is taken, not_found
 */
export async function createAgent(ctx: Ctx, { id: gatewayId, ...given }: z.output<typeof CreateAiAgent>) {
  const { provider: providerId = null, upstream_secret_id, upstream, ...rest } = given;
  const provider = providerId === null ? undefined : providerOf(providerId);
  if (providerId !== null && !provider) throw invalid('provider', `must be one of ${PROVIDERS.map(({ id }) => id).join(', ')}`);
  if (provider && rest.primary_route_id != null) throw invalid('primary_route_id', 'must not be sent with provider, which makes a route');
  const composed = provider && { provider, ...composition(provider, { upstream, upstream_secret_id, default_model: rest.default_model }) };
  const input = withModes(rest);
  if (!composed) assertWithoutProvider({ upstream, upstream_secret_id, upstream_secret_ids: input.upstream_secret_ids });
  else if (composed.secretId === null) assertNoKeys(input.upstream_secret_ids);
  await checkAddress(ctx, 'upstream', upstream);
  await checkAddress(ctx, 'guardrail_webhook_url', input.guardrail_webhook_url);
  await checkOutputSchema(input.output_schema);
  const merged: Merged = { ...WITHOUT, ...defined(input), ...(composed ? { default_model: composed.default_model } : {}) } as Merged;
  const written = new Set([...Object.keys(input), 'upstream_secret_id']);
  checkMerged(merged);
  return mutate(ctx, async (tx) => {
    const gateway = await lockedGateway(tx, ctx, gatewayId);
    assertNotArchived(gateway, 'gateway');
    await withinPlan(tx, ctx, 'ai_agents');
    await checkReferences(tx, ctx, referencesOf({ ...merged, ...input, gateway_id: gateway.id }, composed?.secretId ?? null), written);
    if (composed?.secretId) await checkPins(tx, ctx, composed.target, composed.secretId, 'upstream_secret_id');
    const route = composed && (await composeRoute(tx, ctx, { ...composed, slug: input.slug }));
    const row = await tx.ai_agents
      .create({
        data: {
          ...own(ctx),
          ...columnsOf(input),
          name: input.name,
          slug: input.slug,
          id: newId(),
          gateway_id: gateway.id,
          provider: providerId,
          ...(route ? { primary_route_id: route.id, default_model: merged.default_model } : {}),
          created_by: creatorOf(ctx),
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('Another agent of this space already has this slug.'));
    const made: AuditEntry[] = route ? [route.entry] : [];
    const details = { provider: providerId, ...(composed ? { upstream_secret_id: composed.secretId, route_id: route?.id } : {}) };
    return audited(advised(row, await placesOf(tx, ctx, [row]), merged), agentEntry('create', row, details), made);
  });
}

/** @throws Refusal as creating, conflict for an archived one */
export async function updateAgent(ctx: Ctx, { id, ...given }: z.output<typeof UpdateAiAgent>) {
  const { provider: _, upstream_secret_id: __, upstream, ...rest } = given;
  const input = withModes(rest);
  await checkAddress(ctx, 'upstream', upstream);
  await checkAddress(ctx, 'guardrail_webhook_url', input.guardrail_webhook_url);
  await checkOutputSchema(input.output_schema);
  const written = new Set(Object.keys(input));
  return mutate(ctx, async (tx) => {
    const before = await lockedAgent(tx, ctx, id);
    assertNotArchived(before, 'agent');
    const after = { ...before, ...defined(input) };
    if (before.provider === null) assertWithoutProvider({ upstream, upstream_secret_ids: after.upstream_secret_ids });
    else if (input.upstream_secret_ids && !(await hasKey(tx, ctx, before))) assertNoKeys(input.upstream_secret_ids);
    const merged = after as unknown as Merged;
    if (before.provider !== null && after.primary_route_id !== before.primary_route_id)
      throw invalid(
        'primary_route_id',
        "can't be changed: the route came with the agent's provider. Create another agent for another route",
      );
    if (after.fallback_agent_id === before.id) throw invalid('fallback_agent_id', 'must be another agent');
    checkMerged(merged);
    await checkReferences(tx, ctx, referencesOf(after, null), written);
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, input, AI_AGENT_PROTECTIONS));
    const places = await placesOf(tx, ctx, [before]);
    const move = upstream === undefined ? null : await moveUpstream(tx, ctx, before, upstream);
    const row = await tx.ai_agents
      .update({ where: { id: before.id, ...own(ctx) }, data: { ...columnsOf(input), updated_at: ctx.now } })
      .catch(onUnique('Another agent of this space already has this slug.'));
    const moved = move ? await placesOf(tx, ctx, [row]) : places;
    const answer = advised(row, moved, merged);
    const changes = changesOf(shownAgent(before, places), shownAgent(row, moved), [...written, ...(move ? ['upstream'] : [])]);
    if (changes.length === 0) return unchanged(answer);
    return audited(answer, { ...agentEntry('update', row, move?.details), changes }, move ? [move.entry] : []);
  });
}

const advised = (row: AgentRow, places: Places, merged: Merged) => ({ ...shownAgent(row, places), warning: adviceOn(merged) });

type Settings = Omit<z.output<typeof UpdateAiAgent>, 'id' | 'provider' | 'upstream_secret_id' | 'upstream'>;

/** The older spelling of the response mode. @throws Refusal validation_error when both are sent and differ */
function withModes<T extends Settings>({ pii_detokenize_response: legacy, ...input }: T) {
  if (legacy === undefined) return input;
  const mode = legacy ? ('detokenize' as const) : ('redact' as const);
  if (input.pii_response_mode !== undefined && input.pii_response_mode !== mode)
    throw invalid('pii_detokenize_response', 'contradicts pii_response_mode; send one of them');
  return { ...input, pii_response_mode: mode };
}

/** What an agent has that says nothing of these. */
const WITHOUT: Merged = {
  primary_route_id: null,
  fallback_route_ids: [],
  default_model: null,
  model_allowlist: [],
  model_denylist: [],
  model_rewrite: {},
  budget_overage_action: 'block',
  fallback_agent_id: null,
  cache_mode: 'off',
  cache_ttl_seconds: 0,
  cache_embedding_model: null,
  guardrail_webhook_mode: 'off',
  guardrail_webhook_url: null,
};

const defined = (input: object) => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));

const json = (value: object | undefined) => value as Prisma.InputJsonObject | undefined;

const columnsOf = <T extends Omit<Settings, 'pii_detokenize_response'>>({
  model_rewrite,
  tags,
  routing_policy,
  output_schema,
  budget_boost,
  ...input
}: T) => ({
  ...input,
  budget_boost: boostColumn(budget_boost),
  model_rewrite: json(model_rewrite),
  tags: json(tags),
  routing_policy: json(routing_policy),
  output_schema: output_schema === null ? Prisma.DbNull : json(output_schema),
});

type Referring = Partial<
  Pick<
    AgentRow,
    'primary_route_id' | 'fallback_route_ids' | 'upstream_secret_ids' | 'fallback_agent_id' | 'pii_redact_policy_id' | 'firewall_policy_id'
  >
> &
  Partial<Pick<AgentRow, 'guardrail_webhook_secret_id' | 'cmek_key_id'>> & { gateway_id: string; routing_policy?: unknown };

const referencesOf = (agent: Referring, upstream_secret_id: string | null) => ({
  gateway_id: agent.gateway_id,
  primary_route_id: agent.primary_route_id ?? null,
  fallback_route_ids: agent.fallback_route_ids ?? [],
  upstream_secret_ids: agent.upstream_secret_ids ?? [],
  fallback_agent_id: agent.fallback_agent_id ?? null,
  pii_redact_policy_id: agent.pii_redact_policy_id ?? null,
  firewall_policy_id: agent.firewall_policy_id ?? null,
  guardrail_webhook_secret_id: agent.guardrail_webhook_secret_id ?? null,
  cmek_key_id: agent.cmek_key_id ?? null,
  upstream_secret_id,
  weighted_route_ids: Object.keys((agent.routing_policy as { route_weights?: object } | undefined)?.route_weights ?? {}),
});
