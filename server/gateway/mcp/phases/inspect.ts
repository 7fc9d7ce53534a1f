import { members } from '#server/kernel/list-header.ts';
import { errorBody, fault } from '#server/mcp/errors.ts';
import { readHeadFields } from '../../core/head-fields.ts';
import type { ANSWERED, PhaseResult } from '../../core/plane.ts';
import { answer } from '../answer.ts';
import type { McpCall, Place } from '../mcp-call.ts';
import { placeOf } from '../resources.ts';

const PREFLIGHT = [
  'Access-Control-Allow-Methods',
  'POST, DELETE',
  'Access-Control-Allow-Headers',
  'Authorization, DPoP, Content-Type, MCP-Protocol-Version, MCP-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID',
  'Access-Control-Max-Age',
  '600',
];

/**
 * Reads the head: what the path names, and whether a web page may call it. A page whose origin is not allowed is refused before anything else, in the same way
 * whether or not there is such a server (DNS rebinding; interface rule 52 §3).
 */
export function inspect(call: McpCall): PhaseResult {
  readHeadFields(call, () => undefined);
  const mark = call.target.indexOf('?');
  const { state } = call;
  state.place = placeOf(mark < 0 ? call.target : call.target.slice(0, mark)) ?? { kind: 'nothing' };
  const { origin } = call.req.headers;
  if (origin !== undefined) {
    if (!allowsOrigin(call, state.place, origin)) return refuseOrigin(call);
    state.origin = origin;
  }
  if (call.method !== 'OPTIONS') return undefined;
  const parameters = members(call.req.headers['access-control-request-headers']).filter((name) =>
    /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i.test(name),
  );
  const fields = PREFLIGHT.with(3, [PREFLIGHT[3], ...parameters.slice(0, 32)].join(', '));
  return answer(call, { status: 204, body: '', fields: origin === undefined ? ['Allow', 'POST, DELETE'] : fields });
}

/** For the aggregate it is enough that one server allows the page; the others stay out of it (`offers.ts`). */
function allowsOrigin({ snapshot }: McpCall, place: Place, origin: string): boolean {
  const { serversBySlug } = snapshot.mcp;
  if (place.kind === 'server') return serversBySlug.get(place.slug)?.allowedOrigins.has(origin) ?? false;
  return place.kind === 'aggregate' && [...serversBySlug.values()].some(({ allowedOrigins }) => allowedOrigins.has(origin));
}

function refuseOrigin(call: McpCall): typeof ANSWERED {
  const refusal = fault('origin_not_allowed', 'Web pages of this origin may not call this MCP server.');
  return answer(call, {
    status: 403,
    body: JSON.stringify({ jsonrpc: '2.0', error: errorBody(refusal, call.requestId) }),
    code: refusal.code,
  });
}
