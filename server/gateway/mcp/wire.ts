import type { Wire } from '#server/mcp/upstream/wire.ts';
import { createExchangeEvents } from '#server/platform/http-out/event-exchange.ts';
import type { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { Runtime } from '../core/runtime.ts';
import type { McpCall } from './mcp-call.ts';

/** The gateway's own connections for the upstreams of a call's workspace, behind the guard that judges every address it connects to. */
export function wireOf({ snapshot }: McpCall, { pools, resolver }: Runtime): Wire {
  const exchange = createExchangeEvents(pools, resolver.settings);
  const { tenant, space } = snapshot;
  return (request, handler) => {
    const sent = exchange({ ...request, tenant: tenant.id, space }, handler);
    return { ended: sent.ended, abort: (fault?: UpstreamFault) => sent.abort(fault) };
  };
}
