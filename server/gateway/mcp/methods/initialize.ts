import { isFault } from '#server/mcp/errors.ts';
import type { RpcRequest } from '#server/mcp/messages.ts';
import { LONGEST_UPSTREAM_SESSION, type SessionClaims } from '#server/mcp/sessions.ts';
import { negotiate } from '#server/mcp/versions.ts';
import type { ANSWERED } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { answerFault, answerResult } from '../answer.ts';
import { credentialsFor } from '../credentials.ts';
import { faultOf } from '../faults.ts';
import { clientOf, openLink } from '../links.ts';
import type { McpCall } from '../mcp-call.ts';
import { serverInfo } from '../server-info.ts';
import { mintSession } from '../sessions.ts';

/**
 * Begins a session of a legacy client. An upstream of the same era begins one with us, which belongs to this client alone: such servers keep private state in
 * them (interface rule 52 §3.2).
 */
export async function initialize(call: McpCall, runtime: Runtime, { params }: RpcRequest): Promise<typeof ANSWERED> {
  const version = negotiate(params.protocolVersion);
  const { server } = call.state;
  let upstream: Pick<SessionClaims, 'u' | 'p'> = { u: null, p: null };
  if (server?.type === 'upstream') {
    const credentials = await credentialsFor(call, runtime, server);
    if (isFault(credentials)) return answerFault(call, credentials);
    const link = await openLink(call, runtime, server, credentials, clientOf(params), version);
    if (link.kind === 'legacy') {
      const { id, version: agreed } = link.session;
      // A longer id doesn't fit into ours: such an upstream is called over the session that clients without sessions have.
      if (id === null || id.length <= LONGEST_UPSTREAM_SESSION) upstream = { u: id, p: agreed };
    } else if (link.kind !== 'modern' && link.kind !== 'events') return answerFault(call, faultOf(link));
  }
  call.state.version = version;
  const id = await mintSession(call, runtime, { ...upstream, v: version });
  call.state.sessionId = id;
  const result = {
    protocolVersion: version,
    capabilities: { tools: { listChanged: false } },
    serverInfo: serverInfo(call),
    ...(server?.description ? { instructions: server.description } : {}),
  };
  return answerResult(call, result, ['MCP-Session-Id', id]);
}
