import type { PhaseResult } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { aiRefusal } from '../../governance/envelope.ts';
import { limitCall } from '../../governance/limits.ts';
import type { McpCall } from '../mcp-call.ts';
import { serverWait } from '../server-rate.ts';

/** Counts a call: of its token, of its workspace, and of the server that its path names (interface rule 52 §6, row 1). */
export async function limit(call: McpCall, runtime: Runtime): Promise<PhaseResult> {
  const refusal = await limitCall(call, runtime, null);
  if (refusal) return refusal;
  const { server } = call.state;
  const wait = server === null ? 0 : await serverWait(server, call.receivedAt);
  if (wait === 0) return undefined;
  return aiRefusal('rate_limited', `Rate limit of this MCP server exceeded: ${server?.rpm} calls per minute.`, {
    retryAfter: wait,
    extra: { limit: 'server' },
  });
}
