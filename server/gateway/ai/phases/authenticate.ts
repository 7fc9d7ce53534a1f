import type { AiCode } from '#server/ai/codes.ts';
import type { Runtime } from '../../core/runtime.ts';
import { consume, deny, type GovernedPlane, authenticate as judge } from '../../governance/authenticate.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import type { GovernedCall } from '../../governance/governed-call.ts';
import type { AiCall } from '../ai-call.ts';

type Result = AiRefused | undefined | Promise<AiRefused | undefined>;

const plane: GovernedPlane = {
  name: 'ai',
  slugOf: (call: GovernedCall) => (call as AiCall).state.slug || null,
  challenge: (_, code: AiCode, presented) =>
    code === 'tenant_unavailable' || code === 'outside_valid_window' || code === 'ip_cidr_mismatch'
      ? undefined
      : `Bearer realm="ai"${presented ? ', error="invalid_token"' : ''}`,
};

/** Step 1: who calls, and that a one-shot token is used up whatever refuses the call later (interface rule 51 §3). */
export function authenticate(call: AiCall, runtime: Runtime): Result {
  return after(judge(call, runtime, plane), () => {
    const { token } = call.state;
    const agentless = token?.agentId === null ? deny(call, plane, aiRefusal('agent_missing', NO_AGENT)) : undefined;
    return after(agentless, () => consume(call, plane));
  });
}

const NO_AGENT = 'This token is for MCP servers: it belongs to no agent.';

const after = (first: Result, next: () => Result): Result =>
  first instanceof Promise ? first.then((refusal) => refusal ?? next()) : (first ?? next());
