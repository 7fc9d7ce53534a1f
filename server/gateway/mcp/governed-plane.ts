import type { AiCode } from '#server/ai/codes.ts';
import type { GovernedPlane } from '../governance/authenticate.ts';
import type { GovernedCall } from '../governance/governed-call.ts';
import type { McpState } from './mcp-call.ts';
import { metadataUrl } from './resources.ts';

/** How the shared stage names calls of this plane, and challenges them (interface rule 52 §4). */
export const MCP_PLANE: GovernedPlane = {
  name: 'mcp',
  slugOf(call) {
    const { place } = stateOf(call);
    return place.kind === 'server' ? place.slug : null;
  },
  challenge(call, code, presented) {
    const { tenant, space } = call.snapshot;
    const { place } = stateOf(call);
    const base = baseChallenge(metadataUrl(tenant.slug, space, place));
    const error = presented ? errorOf(code) : null;
    return code === 'unknown_mcp_resource' || code === 'tenant_unavailable' ? undefined : error === null ? base : `${base}, ${error}`;
  },
};

/** RFC 6750 with the pointer of RFC 9728. */
export const baseChallenge = (metadata: string): string => `Bearer realm="mcp", resource_metadata="${metadata}", scope="mcp:tools"`;

// Only calls of this plane come here.
const stateOf = (call: GovernedCall) => call.state as McpState;

function errorOf(code: AiCode): string {
  if (code === 'insufficient_scope') return 'error="insufficient_scope"';
  return code === 'invalid_target'
    ? 'error="invalid_token", error_description="token is bound to another resource"'
    : 'error="invalid_token"';
}
