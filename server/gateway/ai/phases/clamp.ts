import { type AiCall, detectedOf } from '../ai-call.ts';

const ASKED: ReadonlySet<string> = new Set(['chat', 'messages', 'responses', 'generate']);

/** Step 9: no call asks for more output than agent and token allow. It refuses nothing (interface rule 51 §5.8). */
export function clamp(call: AiCall): undefined {
  const { state } = call;
  const { agent, principal, adapter, body, model } = state;
  // The provider is asked for what its answer will be judged by, where its API can be.
  if (agent?.output_schema && adapter && body !== null && ASKED.has(detectedOf(call).operation))
    adapter.requestSchema(body, agent.output_schema);
  const limits = [agent?.budget_per_call_max_tokens, principal?.token.scope.max_tokens_per_call].filter((one) => one != null);
  if (limits.length === 0 || !adapter || body === null || model === null) return undefined;
  state.ceiling = Math.min(...limits);
  const { clamped, warnings } = adapter.clamp(body, state.ceiling, { model: model.final, provider: agent?.provider ?? 'custom' });
  if (clamped !== undefined) state.lines += `X-Svc-AI-Max-Tokens: clamped=${clamped}\r\n`;
  state.warnings.push(...warnings);
  return undefined;
}
