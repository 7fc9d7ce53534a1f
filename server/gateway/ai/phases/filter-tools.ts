import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import type { AiCall } from '../ai-call.ts';

/** Step 8: only tools on the agent's list are forwarded, and none that isn't may be forced (interface rule 51 §5.10). */
export function filterTools(call: AiCall): AiRefused | undefined {
  const { agent, adapter, body } = call.state;
  const allowed = agent?.allowedTools ?? null;
  if (allowed === null || !adapter || body === null) return undefined;
  const isAllowed = (name: string) => allowed.has(name);
  const forced = adapter.tools.forced(body).find((name) => !isAllowed(name));
  if (forced !== undefined)
    return aiRefusal('tool_not_allowed', 'The request forces a tool that is not on the list of this agent.', {
      extra: { tool: forced.slice(0, 200) },
    });
  const dropped = adapter.tools.keep(body, isAllowed);
  if (dropped > 0) call.state.lines += `X-Svc-AI-Tools-Dropped: ${dropped}\r\n`;
  return undefined;
}
