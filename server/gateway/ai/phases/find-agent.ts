import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import type { AiCall } from '../ai-call.ts';

/** Step 3: the agent of the path must be the token's, and it and its gateway must be active. */
export function findAgent(call: AiCall): AiRefused | undefined {
  const { state, snapshot } = call;
  const { principal } = state;
  if (!principal) return aiRefusal('missing_auth', 'The call was not authenticated.');
  const agent = snapshot.ai.agentsBySlug.get(state.slug);
  if (!agent) return aiRefusal('agent_not_found', 'No agent with this name exists in this space.');
  if (principal.token.agentId !== agent.id) return aiRefusal('agent_token_mismatch', 'This token is for another agent.');
  const gateway = snapshot.ai.gatewaysById.get(agent.gateway_id);
  if (gateway?.status !== 'active') return aiRefusal('gateway_not_active', `This AI gateway is ${gateway?.status ?? 'archived'}.`);
  if (agent.status !== 'active') return aiRefusal('agent_not_active', `This agent is ${agent.status}.`);
  state.agent = agent;
  state.gateway = gateway;
  return undefined;
}
