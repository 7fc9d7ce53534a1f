import { encodeHeaderValue } from '../header-values.ts';
import type { Params, RpcId } from '../messages.ts';
import { META, MODERN_VERSION } from '../versions.ts';
import { type Exchanged, exchange, type Timing } from './message-exchange.ts';
import type { Upstream, Wire } from './wire.ts';

// Requests to an upstream of the modern era: each says in itself what it speaks.

export type ClientInfo = { readonly name: string; readonly version: string };

export type ModernRequest = {
  readonly id: RpcId;
  readonly method: string;
  readonly params: Params;
  readonly client: ClientInfo;
  /** What the upstream may ask of the client. */
  readonly capabilities: Params;
  /** `Mcp-Param-*`, names and values in turn. */
  readonly parameterHeaders?: readonly string[];
};

/** A modern upstream has no requests of its own; one that sends some all the same is not answered. */
export function modernExchange(
  wire: Wire,
  upstream: Upstream,
  { id, method, params, client, capabilities, parameterHeaders = [] }: ModernRequest,
  onNotification: (method: string, params: Params) => void,
  timing: Timing,
  signal?: AbortSignal,
): Promise<Exchanged> {
  const name = method === 'tools/call' && typeof params.name === 'string' ? ['Mcp-Name', encodeHeaderValue(params.name)] : [];
  const headers = ['MCP-Protocol-Version', MODERN_VERSION, 'Mcp-Method', method, ...name, ...parameterHeaders];
  const meta = {
    ...(params._meta as Params | undefined),
    [META.version]: MODERN_VERSION,
    [META.clientInfo]: client,
    [META.clientCapabilities]: capabilities,
  };
  const outgoing = { id, method, params: { ...params, _meta: meta } };
  return exchange(wire, upstream, headers, outgoing, { onNotification, onRequest: () => undefined }, timing, signal);
}
