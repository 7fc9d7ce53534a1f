import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { type Fixture, fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import { AI_AGENT_PROTECTIONS } from './protections.ts';

const gateway: Sample = async () => ({ name: 'Support', slug: fresh('support') });

/** The free plan has one gateway, so the one that is there is taken. */
const gatewayId = async (ctx: Ctx): Promise<string> => {
  const held = await db().ai_gateways.findFirst({ where: { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, status: 'active' } });
  return held?.id ?? (await made(ctx, 'ai_gateways.create', await gateway(ctx))).id;
};
const aGateway: Sample = async (ctx) => ({ id: await gatewayId(ctx) });

const agent: Sample = async (ctx) => ({ id: await gatewayId(ctx), name: 'Support bot', slug: fresh('bot') });
const agentId = async (ctx: Ctx): Promise<string> => (await made(ctx, 'ai_gateways.agents.create', await agent(ctx))).id;
const anAgent: Sample = async (ctx) => ({ id: await agentId(ctx) });

const agentToken: Sample = async (ctx) => {
  const id = await agentId(ctx);
  return { id, token_id: (await made(ctx, 'ai_gateways.agents.tokens.create', { id })).id };
};
const gatewayToken: Sample = async (ctx) => {
  const id = await gatewayId(ctx);
  return { id, token_id: (await made(ctx, 'ai_gateways.tokens.create', { id })).id };
};

export const samples: Record<string, Sample> = {
  'ai_gateways.list': nothing,
  'ai_gateways.create': gateway,
  'ai_gateways.get': aGateway,
  'ai_gateways.update': async (ctx) => ({ ...(await aGateway(ctx)), description: 'changed' }),
  'ai_gateways.delete': aGateway,
  'ai_gateways.pause': async (ctx) => ({ ...(await aGateway(ctx)), reason: 'a test' }),
  'ai_gateways.resume': async (ctx) => {
    const { id } = await aGateway(ctx);
    await made(ctx, 'ai_gateways.pause', { id });
    return { id };
  },
  'ai_gateways.providers': nothing,
  'ai_gateways.agents.list': aGateway,
  'ai_gateways.agents.create': agent,
  'ai_gateways.agents.get': anAgent,
  'ai_gateways.agents.update': async (ctx) => ({ ...(await anAgent(ctx)), description: 'changed' }),
  'ai_gateways.agents.delete': anAgent,
  'ai_gateways.agents.pause': async (ctx) => ({ ...(await anAgent(ctx)), reason: 'a test' }),
  'ai_gateways.agents.resume': async (ctx) => {
    const { id } = await anAgent(ctx);
    await made(ctx, 'ai_gateways.agents.pause', { id });
    return { id };
  },
  'ai_gateways.agents.test': anAgent,
  'ai_gateways.agents.purge_cache': anAgent,
  'ai_gateways.agents.circuits.list': anAgent,
  'ai_gateways.agents.circuits.close': async (ctx) => {
    const route = await made(ctx, 'routes.create', { name: fresh('circuit'), target_base_url: 'https://example.com' });
    const { id } = await made(ctx, 'ai_gateways.agents.create', { ...(await agent(ctx)), primary_route_id: route.id });
    const place = { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, agent_id: id as string, route_id: route.id as string };
    const opened = { opened_at: new Date(), open_until: new Date(Date.now() + 60_000) };
    await db().ai_circuits.create({ data: { ...place, ...opened, failures: 5, requests: 5, cause: '503' } });
    return { id, route_id: route.id };
  },
  'ai_gateways.agents.tokens.list': anAgent,
  'ai_gateways.agents.tokens.create': anAgent,
  'ai_gateways.agents.tokens.delete': agentToken,
  'ai_gateways.agents.tokens.rotate': agentToken,
  'ai_gateways.tokens.list': aGateway,
  'ai_gateways.tokens.create': aGateway,
  'ai_gateways.tokens.delete': gatewayToken,
  'ai_gateways.tokens.clear_step_up': async (ctx) => {
    const { token_id } = await agentToken(ctx);
    await db().ai_tokens.update({ where: { id: token_id as string }, data: { step_up_required: true } });
    return { token_id };
  },
};

export const needsGateway = ['ai_gateways.agents.test'];
/** Members with their second factor, and nobody's key. */
export const peopleOnly = ['ai_gateways.tokens.clear_step_up'];
export const confirmedSamples: Record<string, Sample> = {
  'ai_gateways.resume': async (ctx) => {
    const input = await (samples['ai_gateways.resume'] as Sample)(ctx);
    await db().ai_gateways.update({ where: { id: input.id as string }, data: { paused_automatically: true } });
    return input;
  },
  'ai_gateways.agents.resume': async (ctx) => {
    const input = await (samples['ai_gateways.agents.resume'] as Sample)(ctx);
    await db().ai_agents.update({ where: { id: input.id as string }, data: { paused_automatically: true } });
    return input;
  },
};

export const shownOnce = {
  'ai_gateways.agents.tokens.create': ['token'],
  'ai_gateways.agents.tokens.rotate': ['token'],
  'ai_gateways.tokens.create': ['token'],
};

/** What goes together, and what exists. */
export const dependsOnState = [
  /foreign_reference: /,
  /must be between 0 and 1000000, with at most 4 decimals/,
  /must be between 0 and 1, with at most 3 decimals/,
  /^tags: keys must be /,
  /^model_(?:rewrite|aliases)\./,
  /aliases are not followed twice/,
  /^scope\.tags: keys must be /,
  /^scope\.valid_window/,
  /^scope\.ip_cidrs/,
  /^provider: must be one of /,
  /is required with /,
  /must not be sent with /,
  /must be at least 1 with cache_mode/,
  /is only for tokens of kind tool/,
  /must be true with dpop_jkt/,
  /contradicts pii_response_mode/,
  /private_address: /,
  /must not contain placeholders/,
  /^(?:upstream|guardrail_webhook_url): must /,
  /must not name the primary route/,
  /model_allowlist, so no call|model_denylist, so no call/,
  /is set when the agent is created/,
  /is only for agents (?:with a provider|that were created with)/,
  /must not name a secret twice/,
  /^output_schema: must be a JSON Schema/,
];

export const moving: Fixture['moving'] = {
  'ai_gateways.agents.update': {
    edits: {
      upstream: async (ctx) => {
        const secret = await made(ctx, 'secrets.create', { name: fresh('LLM_KEY'), value: 'sk-nobody-may-see' });
        const keyed = { provider: 'openai', upstream_secret_id: secret.id };
        const { id } = await made(ctx, 'ai_gateways.agents.create', { ...(await agent(ctx)), ...keyed });
        return { id, upstream: 'https://collect.example.com/v1' };
      },
    },
  },
};
const creates = 'a gateway, to which an agent is added';
export const movesNothing = {
  'ai_gateways.agents.create fallback_agent_id': creates,
  'ai_gateways.agents.create guardrail_webhook_url': creates,
  'ai_gateways.agents.create upstream': creates,
  'ai_gateways.agents.update fallback_agent_id': 'an agent of its own, with a key of its own',
  'ai_gateways.agents.update guardrail_webhook_url':
    'its secret signs what is sent and is never sent itself, and another address takes a confirmation of its own',
};

export const harmless = {
  // Budgets and names: they bound cost.
  'ai_gateways.update': [
    'name',
    'description',
    'budget_daily_usd',
    'budget_monthly_usd',
    'budget_overage_action',
    'budget_boost',
    'alert_thresholds',
    'model_aliases',
    'user_attribution',
  ],
};

export const grantless = {
  'ai_gateways.agents.create': "detokenize puts a caller's own values back into its answer",
  'ai_gateways.agents.update': "detokenize puts a caller's own values back into its answer",
  'ai_gateways.agents.tokens.create': 'people call AI agents themselves',
  'ai_gateways.tokens.create': 'people call AI agents themselves',
  'ai_gateways.agents.tokens.rotate': 'people call AI agents themselves',
};

export const loosening: Fixture['loosening'] = {
  'ai_gateways.agents.update': {
    rules: AI_AGENT_PROTECTIONS,
    of: anAgent,
    pairs: {
      model_allowlist: { strict: { model_allowlist: ['gpt-4o'] }, loose: { model_allowlist: [] } },
      model_denylist: { strict: { model_denylist: ['gpt-4o'] }, loose: { model_denylist: [] } },
      pii_request_mode: { strict: { pii_request_mode: 'tokenize' }, loose: { pii_request_mode: 'off' } },
      pii_response_mode: { strict: { pii_response_mode: 'redact' }, loose: { pii_response_mode: 'detokenize' } },
      pii_streaming_mode: { strict: { pii_streaming_mode: 'buffer' }, loose: { pii_streaming_mode: 'monitor' } },
      pii_streaming_holdback_chars: { strict: { pii_streaming_holdback_chars: 128 }, loose: { pii_streaming_holdback_chars: 16 } },
      cache_scope: { strict: { cache_scope: 'user' }, loose: { cache_scope: 'shared' } },
      tool_allowlist: { strict: { tool_allowlist: ['search'] }, loose: { tool_allowlist: [] } },
      output_schema: { strict: { output_schema: { type: 'object' } }, loose: { output_schema: null } },
      output_validation_action: { strict: { output_validation_action: 'block' }, loose: { output_validation_action: 'warn' } },
      guardrail_webhook_url: { strict: { guardrail_webhook_url: 'https://guard.example.com' }, loose: { guardrail_webhook_url: null } },
      guardrail_webhook_mode: {
        strict: { guardrail_webhook_url: 'https://guard.example.com', guardrail_webhook_mode: 'both' },
        loose: { guardrail_webhook_mode: 'off' },
      },
      guardrail_webhook_failure_action: {
        strict: { guardrail_webhook_failure_action: 'fail_closed' },
        loose: { guardrail_webhook_failure_action: 'fail_open' },
      },
      data_residency_region: { strict: { data_residency_region: 'eu' }, loose: { data_residency_region: null } },
    },
  },
};
