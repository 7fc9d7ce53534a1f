import { z } from 'zod';
import { MOVE_REFUSALS } from '#server/kernel/moves.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { TestAiAgent, TestedAiAgent } from './agent-test.schema.ts';
import * as tests from './agent-test.ts';
import * as agentSchema from './agents.schema.ts';
import * as agents from './agents.ts';
import { purgeCache } from './cache.ts';
import * as circuits from './circuits.ts';
import * as gateways from './gateways.ts';
import * as minting from './minting.ts';
import { listProviders } from './providers.ts';
import * as schema from './schema.ts';
import { lockedAgent, lockedGateway } from './store.ts';
import * as switches from './switch.ts';
import * as tokenSchema from './tokens.schema.ts';
import * as tokens from './tokens.ts';

export const list = operation({
  id: 'ai_gateways.list',
  summary: 'List AI gateways',
  http: 'GET /ai-gateway/gateways',
  kind: 'read',
  needs: ['ai_gateway:list'],
  refuses: [],
  input: schema.ListAiGateways,
  output: z.array(schema.AiGateway),
  list: 'paged',
  names: ['id', 'name', 'slug', 'status', 'sandbox', 'created_at'],
  run: (ctx, input) => gateways.listGateways(ctx, input),
});

export const create = operation({
  id: 'ai_gateways.create',
  summary: 'Create an AI gateway',
  http: 'POST /ai-gateway/gateways',
  kind: 'change',
  needs: ['ai_gateway:create'],
  refuses: ['plan_limit', 'conflict'],
  input: schema.CreateAiGateway,
  output: schema.AiGateway,
  success: 201,
  run: (ctx, input) => gateways.createGateway(ctx, input),
});

export const get = operation({
  id: 'ai_gateways.get',
  summary: 'Get an AI gateway',
  http: 'GET /ai-gateway/gateways/{id}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: schema.AiGatewayRef,
  output: schema.AiGateway,
  run: (ctx, input) => gateways.getGateway(ctx, input),
});

export const update = operation({
  id: 'ai_gateways.update',
  summary: 'Update an AI gateway',
  http: 'PATCH /ai-gateway/gateways/{id}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  refuses: ['not_found', 'conflict'],
  input: schema.UpdateAiGateway,
  output: schema.AiGateway,
  edits: { row: (tx, ctx, { id }) => lockedGateway(tx, ctx, id), shown_by: get },
  run: (ctx, input) => gateways.updateGateway(ctx, input),
});

const remove = operation({
  id: 'ai_gateways.delete',
  summary: 'Archive an AI gateway',
  http: 'DELETE /ai-gateway/gateways/{id}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  while_inactive: true,
  refuses: ['not_found'],
  input: schema.AiGatewayRef,
  output: schema.ArchivedAi,
  run: (ctx, input) => switches.archiveGateway(ctx, input),
});

export const pause = operation({
  id: 'ai_gateways.pause',
  summary: 'Pause an AI gateway',
  http: 'POST /ai-gateway/gateways/{id}/pause',
  kind: 'change',
  needs: ['ai_gateway:update'],
  while_inactive: true,
  refuses: ['not_found', 'conflict'],
  input: schema.PauseAi,
  output: schema.AiGateway,
  run: (ctx, input) => switches.pauseGateway(ctx, input),
});

export const resume = operation({
  id: 'ai_gateways.resume',
  summary: 'Resume an AI gateway',
  http: 'POST /ai-gateway/gateways/{id}/resume',
  kind: 'change',
  needs: ['ai_gateway:update'],
  step_up: { by_verb: 'ai.resume' },
  refuses: ['not_found', 'conflict', 'forbidden', 'role_denied', 'step_up_required', 'mfa_required'],
  input: schema.AiGatewayRef,
  output: schema.AiGateway,
  run: (ctx, input) => switches.resumeGateway(ctx, input),
});

export const listAgents = operation({
  id: 'ai_gateways.agents.list',
  summary: 'List AI agents',
  http: 'GET /ai-gateway/gateways/{id}/agents',
  kind: 'read',
  needs: ['ai_gateway:list'],
  refuses: ['not_found'],
  input: agentSchema.ListAiAgents,
  output: z.array(agentSchema.AiAgent),
  list: 'paged',
  names: ['id', 'gateway_id', 'name', 'slug', 'status', 'provider', 'sandbox', 'created_at'],
  run: (ctx, input) => agents.listAgents(ctx, input),
});

export const createAgent = operation({
  id: 'ai_gateways.agents.create',
  summary: 'Create an AI agent',
  http: 'POST /ai-gateway/gateways/{id}/agents',
  kind: 'change',
  needs: ['ai_gateway:create'],
  refuses: ['not_found', 'plan_limit', 'conflict', 'forbidden', 'role_denied'],
  input: agentSchema.CreateAiAgent,
  output: agentSchema.AiAgent,
  success: 201,
  advises: true,
  run: (ctx, input) => agents.createAgent(ctx, input),
});

export const getAgent = operation({
  id: 'ai_gateways.agents.get',
  summary: 'Get an AI agent',
  http: 'GET /ai-gateway/agents/{id}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: agentSchema.AiAgentRef,
  output: agentSchema.AiAgent,
  run: (ctx, input) => agents.getAgent(ctx, input),
});

export const updateAgent = operation({
  id: 'ai_gateways.agents.update',
  summary: 'Update an AI agent',
  http: 'PATCH /ai-gateway/agents/{id}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  step_up: { by_verb: ['credential.move', 'protection.loosen'] },
  moves: { to: ['upstream'], credentials: [] },
  refuses: ['not_found', 'conflict', 'forbidden', 'role_denied', ...MOVE_REFUSALS],
  input: agentSchema.UpdateAiAgent,
  output: agentSchema.AiAgent,
  advises: true,
  edits: { row: (tx, ctx, { id }) => lockedAgent(tx, ctx, id), shown_by: getAgent },
  run: (ctx, input) => agents.updateAgent(ctx, input),
});

export const deleteAgent = operation({
  id: 'ai_gateways.agents.delete',
  summary: 'Archive an AI agent',
  http: 'DELETE /ai-gateway/agents/{id}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  while_inactive: true,
  refuses: ['not_found'],
  input: agentSchema.AiAgentRef,
  output: schema.ArchivedAi,
  run: (ctx, input) => switches.archiveAgent(ctx, input),
});

export const pauseAgent = operation({
  id: 'ai_gateways.agents.pause',
  summary: 'Pause an AI agent',
  http: 'POST /ai-gateway/agents/{id}/pause',
  kind: 'change',
  needs: ['ai_gateway:update'],
  while_inactive: true,
  refuses: ['not_found', 'conflict'],
  input: schema.PauseAi,
  output: agentSchema.AiAgent,
  run: (ctx, input) => switches.pauseAgent(ctx, input),
});

export const resumeAgent = operation({
  id: 'ai_gateways.agents.resume',
  summary: 'Resume an AI agent',
  http: 'POST /ai-gateway/agents/{id}/resume',
  kind: 'change',
  needs: ['ai_gateway:update'],
  step_up: { by_verb: 'ai.resume' },
  refuses: ['not_found', 'conflict', 'forbidden', 'role_denied', 'step_up_required', 'mfa_required'],
  input: agentSchema.AiAgentRef,
  output: agentSchema.AiAgent,
  run: (ctx, input) => switches.resumeAgent(ctx, input),
});

export const testAgent = operation({
  id: 'ai_gateways.agents.test',
  summary: 'Test an AI agent',
  http: 'POST /ai-gateway/agents/{id}/test',
  kind: 'change',
  needs: ['ai_gateway:update'],
  refuses: ['not_found', 'conflict', 'rate_limited', 'dependency_unavailable'],
  input: TestAiAgent,
  output: TestedAiAgent,
  run: (ctx, input) => tests.testAgent(ctx, input),
});

export const purgeAgentCache = operation({
  id: 'ai_gateways.agents.purge_cache',
  summary: "Purge an AI agent's cache",
  http: 'POST /ai-gateway/agents/{id}/purge-cache',
  kind: 'change',
  needs: ['ai_gateway:update'],
  while_inactive: true,
  refuses: ['not_found'],
  input: agentSchema.AiAgentRef,
  output: agentSchema.PurgedAiCache,
  run: (ctx, input) => purgeCache(ctx, input),
});

export const listCircuits = operation({
  id: 'ai_gateways.agents.circuits.list',
  summary: "List an AI agent's circuits",
  http: 'GET /ai-gateway/agents/{id}/circuits',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: agentSchema.AiAgentRef,
  output: z.array(agentSchema.AiCircuit),
  list: 'whole',
  run: (ctx, input) => circuits.listCircuits(ctx, input).then(wholeList),
});

export const closeCircuit = operation({
  id: 'ai_gateways.agents.circuits.close',
  summary: 'Close a circuit of an AI agent',
  http: 'POST /ai-gateway/agents/{id}/circuits/{route_id}/close',
  kind: 'change',
  needs: ['ai_gateway:update'],
  refuses: ['not_found'],
  input: agentSchema.AiCircuitRef,
  output: agentSchema.AiCircuit,
  run: (ctx, input) => circuits.closeCircuit(ctx, input),
});

export const listAgentTokens = operation({
  id: 'ai_gateways.agents.tokens.list',
  summary: "List an AI agent's tokens",
  http: 'GET /ai-gateway/agents/{id}/tokens',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: tokenSchema.ListAiTokens,
  output: z.array(tokenSchema.AiToken),
  list: 'paged',
  run: (ctx, input) => tokens.listAgentTokens(ctx, input),
});

export const mintAgentToken = operation({
  id: 'ai_gateways.agents.tokens.create',
  summary: 'Mint a token of an AI agent',
  http: 'POST /ai-gateway/agents/{id}/tokens',
  kind: 'mint',
  any_session: {
    why: 'a one-shot token that ends within a minute, as the playground makes for its own call',
    when: ({ kind, expires_in_seconds = Number.POSITIVE_INFINITY }) => kind === 'oneshot' && expires_in_seconds <= 60,
  },
  needs: ['ai_gateway:mint'],
  refuses: ['not_found', 'conflict', 'tenant_sealed'],
  input: tokenSchema.MintAiToken,
  output: tokenSchema.MintedAiToken,
  success: 201,
  run: (ctx, input) => minting.mintAgentToken(ctx, input),
});

export const revokeAgentToken = operation({
  id: 'ai_gateways.agents.tokens.delete',
  summary: 'Revoke a token of an AI agent',
  http: 'DELETE /ai-gateway/agents/{id}/tokens/{token_id}',
  kind: 'change',
  needs: ['ai_gateway:mint'],
  while_inactive: true,
  refuses: ['not_found'],
  input: tokenSchema.AiTokenRef,
  output: tokenSchema.RevokedAiToken,
  run: (ctx, input) => tokens.revokeAgentToken(ctx, input),
});

export const rotateAgentToken = operation({
  id: 'ai_gateways.agents.tokens.rotate',
  summary: 'Rotate a token of an AI agent',
  http: 'POST /ai-gateway/agents/{id}/tokens/{token_id}/rotate',
  kind: 'mint',
  needs: ['ai_gateway:mint'],
  refuses: ['not_found', 'conflict', 'tenant_sealed'],
  input: tokenSchema.RotateAiToken,
  output: tokenSchema.RotatedAiToken,
  success: 201,
  run: (ctx, input) => tokens.rotateToken(ctx, input),
});

export const listGatewayTokens = operation({
  id: 'ai_gateways.tokens.list',
  summary: 'List the tokens of an AI gateway',
  http: 'GET /ai-gateway/gateways/{id}/tokens',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: tokenSchema.ListAiTokens,
  output: z.array(tokenSchema.AiToken),
  list: 'paged',
  run: (ctx, input) => tokens.listGatewayTokens(ctx, input),
});

export const mintGatewayToken = operation({
  id: 'ai_gateways.tokens.create',
  summary: 'Mint a tool token of an AI gateway',
  http: 'POST /ai-gateway/gateways/{id}/tokens',
  kind: 'mint',
  needs: ['ai_gateway:mint'],
  refuses: ['not_found', 'conflict', 'tenant_sealed'],
  input: tokenSchema.MintGatewayToken,
  output: tokenSchema.MintedAiToken,
  success: 201,
  run: (ctx, input) => minting.mintGatewayToken(ctx, input),
});

export const revokeGatewayToken = operation({
  id: 'ai_gateways.tokens.delete',
  summary: 'Revoke a token of an AI gateway',
  http: 'DELETE /ai-gateway/gateways/{id}/tokens/{token_id}',
  kind: 'change',
  needs: ['ai_gateway:mint'],
  while_inactive: true,
  refuses: ['not_found'],
  input: tokenSchema.AiTokenRef,
  output: tokenSchema.RevokedAiToken,
  run: (ctx, input) => tokens.revokeGatewayToken(ctx, input),
});

export const clearStepUp = operation({
  id: 'ai_gateways.tokens.clear_step_up',
  summary: "Clear a token's step-up flag",
  http: 'POST /ai-gateway/tokens/{token_id}/clear-step-up',
  kind: 'change',
  needs: ['ai_gateway:update'],
  oauth_only: true,
  step_up: 'ai.clear_step_up',
  refuses: ['not_found', 'forbidden', 'role_denied', 'step_up_required', 'mfa_required'],
  input: tokenSchema.ClearStepUp,
  output: tokenSchema.ClearedStepUp,
  run: (ctx, input) => tokens.clearStepUp(ctx, input),
});

export const providers = operation({
  id: 'ai_gateways.providers',
  summary: 'List AI providers',
  http: 'GET /ai-gateway/providers',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.AiProvider),
  list: 'whole',
  run: () => Promise.resolve(wholeList(listProviders())),
});

export { remove as delete };
