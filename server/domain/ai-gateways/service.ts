// What other families may use of AI gateways and their tokens.

export { getAgent } from './agents.ts';
export { insertToken, type NewToken } from './minting.ts';
export { agentById, agentsUrl, gatewayById } from './store.ts';
