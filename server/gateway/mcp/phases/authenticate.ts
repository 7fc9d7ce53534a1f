import type { PhaseResult } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { authenticate as authenticateToken } from '../../governance/authenticate.ts';
import { presentedToMcp } from '../../governance/presented.ts';
import { MCP_PLANE } from '../governed-plane.ts';
import type { McpCall } from '../mcp-call.ts';
import { authenticatePerson } from './authenticate-person.ts';

/** Rows 0 to 12 for capability tokens, row 17 for access tokens of people. */
export function authenticate(call: McpCall, runtime: Runtime): PhaseResult | Promise<PhaseResult> {
  const presented = presentedToMcp(call);
  const isAccessToken = typeof presented === 'object' && /^svc_(?:live|test)_/.test(presented.text);
  return isAccessToken ? authenticatePerson(call, runtime, presented) : authenticateToken(call, runtime, MCP_PLANE);
}
