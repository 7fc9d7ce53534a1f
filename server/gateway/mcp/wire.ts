import type { Wire } from '#server/mcp/upstream/wire.ts';
import { createExchangeEvents } from '#server/platform/http-out/event-exchange.ts';
import type { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { IDENTITY_HEADER } from '#server/platform/svc-identity.ts';
import type { Runtime } from '../core/runtime.ts';
import type { Credentials } from './credentials.ts';
import type { McpCall } from './mcp-call.ts';

/**
 * The gateway's own connections for the upstreams of a call's workspace, behind the guard that judges every address it connects to. Each request states whom it is
 * for where the server wants that, and nowhere else: the header is ours alone.
 */
export function wireOf({ snapshot }: McpCall, { pools, resolver }: Runtime, { sign }: Credentials, tool: string | null = null): Wire {
  const exchange = createExchangeEvents(pools, resolver.settings);
  const { tenant, space } = snapshot;
  return (request, handler) => {
    const headers = sign ? [...request.headers, IDENTITY_HEADER, sign({ url: request.url, tool })] : request.headers;
    const sent = exchange({ ...request, headers, tenant: tenant.id, space }, handler);
    return { ended: sent.ended, abort: (fault?: UpstreamFault) => sent.abort(fault) };
  };
}
