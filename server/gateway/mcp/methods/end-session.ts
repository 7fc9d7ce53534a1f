import { fault, isFault } from '#server/mcp/errors.ts';
import type { ANSWERED } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { answerFault, answerNothing } from '../answer.ts';
import { credentialsFor } from '../credentials.ts';
import { endUpstreamSession } from '../links.ts';
import type { McpCall } from '../mcp-call.ts';
import { forgetSession, openSession } from '../sessions.ts';

/** Ends a session at the upstream. Ours is a sealed text: its token may begin another at any time. */
export async function endSession(call: McpCall, runtime: Runtime): Promise<typeof ANSWERED> {
  const id = call.req.headers['mcp-session-id'];
  const session = typeof id === 'string' ? await openSession(call, runtime, id) : undefined;
  if (!session || typeof id !== 'string') return answerFault(call, fault('unknown_session', 'This session is unknown or over.'));
  forgetSession(id);
  call.state.session = session;
  const { server } = call.state;
  if (server?.type === 'upstream' && session.u !== null) {
    const credentials = await credentialsFor(call, runtime, server);
    if (!isFault(credentials)) endUpstreamSession(call, runtime, server, credentials);
  }
  return answerNothing(call, 204);
}
