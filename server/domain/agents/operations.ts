import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import { agentMetrics, browseAgents, inspectAgent, listSessions } from './browsing.ts';
import { listCommands, sendCommand } from './commands.ts';
import { gateOfEdit, gateOfEnrolment, gateOfInstallToken, gateOfRotation } from './gates.ts';
import * as installing from './installing.ts';
import * as schema from './schema.ts';
import * as agents from './service.ts';

export const list = operation({
  id: 'agents.list',
  summary: 'List agents',
  http: 'GET /agents',
  kind: 'read',
  needs: ['agent:list'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.Agent),
  list: 'whole',
  run: (ctx) => agents.listAgents(ctx),
});

export const create = operation({
  id: 'agents.create',
  summary: 'Create an agent',
  http: 'POST /agents',
  kind: 'mint',
  needs: ['agent:create'],
  feature: 'byo_agent',
  refuses: ['conflict', 'plan_limit', 'plan_feature', 'tenant_sealed'],
  input: schema.CreateAgent,
  output: schema.AgentCreated,
  success: 201,
  run: (ctx, input) => agents.createAgent(ctx, input),
});

const remove = operation({
  id: 'agents.delete',
  summary: 'Revoke an agent',
  http: 'DELETE /agents/{id}',
  mirrored: true,
  kind: 'change',
  needs: ['agent:revoke'],
  while_inactive: true,
  refuses: ['not_found'],
  input: schema.AgentRef,
  output: schema.AgentRevoked,
  run: (ctx, input) => agents.revokeAgent(ctx, input),
});

export const tamperEvents = operation({
  id: 'agents.tamper_events',
  summary: 'List the tamper events of an agent',
  http: 'GET /agents/{id}/tamper-events',
  mirrored: true,
  kind: 'read',
  needs: ['agent:read'],
  refuses: ['not_found'],
  input: schema.AgentRef,
  output: z.array(schema.TamperEvent),
  list: 'whole',
  run: (ctx, input) => agents.tamperEvents(ctx, input),
});

export const browse = operation({
  id: 'agents.browse',
  summary: 'List agents with their hosts',
  http: 'GET /admin/agents',
  kind: 'read',
  needs: ['agent:list'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.AgentRow),
  list: 'whole',
  run: (ctx) => browseAgents(ctx),
});

export const get = operation({
  id: 'agents.get',
  summary: 'Get an agent',
  http: 'GET /admin/agents/{id}',
  kind: 'read',
  needs: ['agent:read'],
  refuses: ['not_found'],
  input: schema.AgentRef,
  output: schema.AgentDetail,
  run: (ctx, input) => inspectAgent(ctx, input),
});

const enrolment = {
  id: 'agents.enrol',
  summary: 'Create an agent of any mode',
  http: 'POST /admin/agents',
  feature: 'byo_agent',
  refuses: ['conflict', 'plan_limit', 'plan_feature', 'tenant_sealed', 'mfa_required', 'step_up_required'],
  input: schema.EnrolAgent,
  success: 201,
} as const;
const plainEnrolment = operation({
  ...enrolment,
  output: schema.AgentEnrolledOnce,
  kind: 'mint',
  needs: ['agent:create'],
  step_up: { by_verb: 'capability.grant' },
  run: (ctx, input) => agents.enrolAgent(ctx, input),
});
/** A server decrypts, so its credentials pass the gate of reveals; those of an agent that calls routes ask for a confirmation. */
export const enrol = operation({
  ...enrolment,
  output: schema.AgentEnrolled,
  kind: 'reveal',
  needs: ['agent:create_server'],
  reveal: gateOfEnrolment(plainEnrolment as AnyOperation),
  run: (ctx, input) => agents.enrolAgent(ctx, input),
});

const edit = {
  id: 'agents.update',
  summary: 'Change an agent',
  http: 'PATCH /admin/agents/{id}',
  refuses: ['not_found', 'conflict', 'tenant_sealed', 'mfa_required', 'step_up_required'],
  input: schema.UpdateAgent,
  output: schema.Agent,
} as const;
const plainEdit = operation({
  ...edit,
  kind: 'change',
  needs: ['agent:update'],
  step_up: { by_verb: ['capability.grant', 'protection.loosen'] },
  run: (ctx, input) => agents.updateAgent(ctx, input),
});
export const update = operation({
  ...edit,
  kind: 'reveal',
  needs: ['agent:create_server'],
  reveal: gateOfEdit(plainEdit as AnyOperation),
  run: (ctx, input) => agents.updateAgent(ctx, input),
});

const rotation = {
  id: 'agents.rotate_secret',
  summary: 'Rotate the secret of an agent',
  http: 'POST /admin/agents/{id}/rotate-secret',
  refuses: ['not_found', 'conflict', 'tenant_sealed', 'mfa_required', 'step_up_required'],
  input: schema.RotateAgentSecret,
} as const;
const plainRotation = operation({
  ...rotation,
  output: schema.RotatedAgentSecretOnce,
  kind: 'mint',
  needs: ['agent:update'],
  step_up: { by_verb: 'capability.grant' },
  run: (ctx, input) => agents.rotateAgentSecret(ctx, input),
});
export const rotateSecret = operation({
  ...rotation,
  output: schema.RotatedAgentSecret,
  kind: 'reveal',
  needs: ['agent:create_server'],
  reveal: gateOfRotation(plainRotation as AnyOperation),
  run: (ctx, input) => agents.rotateAgentSecret(ctx, input),
});

export const createInstallToken = operation({
  id: 'agents.create_install_token',
  summary: 'Create an install token of an agent',
  http: 'POST /admin/agents/{id}/install-tokens',
  kind: 'reveal',
  needs: ['agent:create_server'],
  refuses: ['not_found', 'conflict', 'tenant_sealed'],
  input: schema.CreateInstallToken,
  output: schema.CreatedInstallToken,
  success: 201,
  reveal: gateOfInstallToken,
  run: (ctx, input) => installing.createInstallToken(ctx, input),
});

export const installTokens = operation({
  id: 'agents.install_tokens',
  summary: 'List the install tokens of an agent',
  http: 'GET /admin/agents/{id}/install-tokens',
  kind: 'read',
  needs: ['agent:read'],
  refuses: ['not_found'],
  input: schema.AgentRef,
  output: z.array(schema.InstallToken),
  list: 'whole',
  run: (ctx, input) => installing.installTokens(ctx, input),
});

export const revokeInstallToken = operation({
  id: 'agents.revoke_install_token',
  summary: 'Revoke an install token',
  http: 'DELETE /admin/agents/{id}/install-tokens/{tokenId}',
  kind: 'change',
  needs: ['agent:update'],
  while_inactive: true,
  refuses: ['not_found'],
  input: schema.InstallTokenRef,
  output: Deleted,
  run: (ctx, input) => installing.revokeInstallToken(ctx, input),
});

export const resetFingerprint = operation({
  id: 'agents.reset_fingerprint',
  summary: 'Reset the fingerprint of an agent',
  http: 'POST /admin/agents/{id}/reset-fingerprint',
  kind: 'change',
  needs: ['agent:reset_fingerprint'],
  step_up: 'agent.reset_fingerprint',
  refuses: ['not_found', 'conflict'],
  input: schema.AgentRef,
  output: schema.Agent,
  run: (ctx, input) => agents.resetFingerprint(ctx, input),
});

export const sendCommandTo = operation({
  id: 'agents.send_command',
  summary: 'Send a command to an agent',
  http: 'POST /admin/agents/{id}/commands',
  kind: 'change',
  needs: ['agent:update'],
  refuses: ['not_found', 'conflict'],
  input: schema.SendCommand,
  output: schema.AgentCommand,
  success: 202,
  run: (ctx, input) => sendCommand(ctx, input),
});

export const commands = operation({
  id: 'agents.commands',
  summary: 'List the commands of an agent',
  http: 'GET /admin/agents/{id}/commands',
  kind: 'read',
  needs: ['agent:read'],
  refuses: ['not_found'],
  input: schema.AgentRef,
  output: z.array(schema.AgentCommand),
  list: 'whole',
  run: (ctx, input) => listCommands(ctx, input),
});

export const sessions = operation({
  id: 'agents.sessions',
  summary: 'List the sessions of an agent',
  http: 'GET /admin/agents/{id}/sessions',
  kind: 'read',
  needs: ['agent:read'],
  refuses: ['not_found'],
  input: schema.AgentRef,
  output: z.array(schema.AgentSession),
  list: 'whole',
  run: (ctx, input) => listSessions(ctx, input),
});

export const metrics = operation({
  id: 'agents.metrics',
  summary: 'Get what an agent counted',
  http: 'GET /admin/agents/{id}/metrics',
  kind: 'read',
  needs: ['agent:read'],
  refuses: ['not_found'],
  input: schema.AgentMetricsQuery,
  output: schema.AgentMetrics,
  run: (ctx, input) => agentMetrics(ctx, input),
});

export { remove as delete };
