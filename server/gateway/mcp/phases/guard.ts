import type { PhaseResult } from '../../core/plane.ts';
import { deny } from '../../governance/authenticate.ts';
import { aiRefusal } from '../../governance/envelope.ts';
import { MCP_PLANE } from '../governed-plane.ts';
import type { McpCall } from '../mcp-call.ts';
import { isResource } from '../resources.ts';

/**
 * The audience guard (interface rule 52 §4, rows 13 to 16): whether the token may be used for what the path names. Its order is normative; who has no good
 * credential was refused before, so nobody learns from it which servers exist.
 */
export function guard(call: McpCall): PhaseResult | Promise<PhaseResult> {
  const { principal, place } = call.state;
  if (!principal) return aiRefusal('missing_auth', 'The call was not authenticated.');
  const { tenant, space, mcp } = call.snapshot;
  const server = place.kind === 'server' ? (mcp.serversBySlug.get(place.slug) ?? null) : null;
  if (place.kind === 'nothing' || (place.kind === 'server' && server === null))
    return refuse(call, aiRefusal('unknown_mcp_resource', 'There is no MCP server at this address.'));
  const { token } = principal;
  if (token.kind !== 'tool')
    return refuse(call, aiRefusal('insufficient_scope', 'Only tokens of kind tool can call MCP servers. Mint one in the dashboard.'));
  const { resource } = token.scope;
  if (resource !== undefined && !isResource(resource, tenant.slug, space, place))
    return refuse(call, aiRefusal('invalid_target', 'This token is bound to another MCP server.'));
  // A person's token is made for one server, whichever gateway has it.
  if (server !== null && call.state.person === null && server.gatewayId !== token.gatewayId)
    return refuse(call, aiRefusal('invalid_target', 'This token belongs to another gateway than the MCP server.'));
  call.state.server = server;
  return undefined;
}

const refuse = (call: McpCall, refusal: Parameters<typeof deny>[2]) => deny(call, MCP_PLANE, refusal);
