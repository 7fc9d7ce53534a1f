import { isObject, type RpcId } from '../messages.ts';
import { META, MODERN_VERSION } from '../versions.ts';
import { type Initialized, initialize } from './legacy.ts';
import { SHORT_TIMING } from './message-exchange.ts';
import { type ClientInfo, modernExchange } from './modern.ts';
import type { Reply } from './reply.ts';
import type { Upstream, Wire } from './wire.ts';

/** Which era an upstream is of, and what it says of itself. A legacy one has been initialized by then. */
export type Probed =
  | { readonly era: 'modern'; readonly versions: readonly string[]; readonly serverName: string }
  | ({ readonly era: 'legacy' } & Initialized);

/** Errors that only an upstream of the modern era answers a probe with, when they come with a status of 400, 404 or 405. */
const MODERN_ERRORS: ReadonlySet<number> = new Set([-32020, -32021, -32601]);

/** Asks in the modern era first, and begins the handshake when the upstream doesn't know it. */
export async function probe(
  wire: Wire,
  upstream: Upstream,
  client: ClientInfo,
  id: RpcId,
): Promise<Probed | Exclude<Reply, { kind: 'result' }>> {
  const request = { id, method: 'server/discover', params: {}, client, capabilities: {} };
  const { reply } = await modernExchange(wire, upstream, request, () => undefined, SHORT_TIMING);
  const modern = modernOf(reply);
  if (modern !== null) return modern;
  const initialized = await initialize(wire, upstream, client, `${id}-i`);
  return 'kind' in initialized ? initialized : { era: 'legacy', ...initialized };
}

/** What the answer to a modern probe says; null: ask in the legacy era. */
function modernOf(reply: Reply): Probed | Exclude<Reply, { kind: 'result' }> | null {
  switch (reply.kind) {
    case 'result': {
      const { supportedVersions, _meta, serverInfo } = reply.result;
      if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) return null;
      const info = isObject(_meta) && isObject(_meta[META.serverInfo]) ? _meta[META.serverInfo] : serverInfo;
      return {
        era: 'modern',
        versions: supportedVersions.filter((version) => typeof version === 'string').slice(0, 20),
        serverName: nameOf(info),
      };
    }
    case 'error': {
      if (reply.code === -32022)
        return isObject(reply.data) && Array.isArray(reply.data.supported) && reply.data.supported.includes(MODERN_VERSION)
          ? { era: 'modern', versions: [MODERN_VERSION], serverName: '' }
          : null;
      return reply.status >= 400 && MODERN_ERRORS.has(reply.code) ? { era: 'modern', versions: [MODERN_VERSION], serverName: '' } : null;
    }
    case 'fault':
      // A server of the legacy era may answer what it doesn't know with any of 400, 404, 405, 406 or 415 and words of its own.
      return reply.code === 'upstream_invalid_response' && reply.status >= 200 && reply.status < 500 ? null : reply;
    default:
      return reply;
  }
}

const nameOf = (info: unknown): string => (isObject(info) && typeof info.name === 'string' ? info.name.slice(0, 200) : '');
