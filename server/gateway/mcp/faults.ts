import { fault, type RpcFault } from '#server/mcp/errors.ts';
import type { Failed } from '#server/mcp/upstream/client.ts';

/** Why an upstream gave no result that can be passed on, as a fault of ours. Its own words only go to the caller who made the request (`relay`). */
export function faultOf(reply: Failed): RpcFault {
  switch (reply.kind) {
    case 'fault':
      return fault(reply.code, reply.message);
    case 'error':
      return fault('upstream_invalid_response', `The MCP server refused the request with error ${reply.code}.`);
    case 'session_lost':
      return fault('unknown_session', 'The MCP server has ended the session. Initialize again.');
    case 'canceled':
      return fault('canceled', 'The call was canceled.');
  }
}
