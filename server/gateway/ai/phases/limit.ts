import type { Runtime } from '../../core/runtime.ts';
import type { AiRefused } from '../../governance/envelope.ts';
import { limitCall } from '../../governance/limits.ts';
import type { AiCall } from '../ai-call.ts';

/** Step 2: the rates of token, agent and workspace, the month, and how many calls run at once. */
export function limit(call: AiCall, runtime: Runtime): AiRefused | undefined | Promise<AiRefused | undefined> {
  const agent = call.state.principal?.agent;
  return limitCall(
    call,
    runtime,
    agent ? { id: agent.id, rpm: agent.rate_limit_rpm, tpm: agent.rate_limit_tpm, concurrency: agent.max_concurrency } : null,
  );
}
