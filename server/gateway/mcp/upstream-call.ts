import { isFault, type RpcFault } from '#server/mcp/errors.ts';
import { isObject, type Params } from '#server/mcp/messages.ts';
import type { Reply } from '#server/mcp/upstream/reply.ts';
import { forgetCatalogue } from './catalogue.ts';
import { type Credentials, credentialsFor } from './credentials.ts';
import { clientOf, keyOf, loseSession, reach, upstreamOf, upstreams } from './links.ts';
import type { Sending } from './sending.ts';
import { wireOf } from './wire.ts';

/**
 * A call of a tool at a remote server. It is made once: only a call that the upstream has certainly not begun is made again, because it didn't know the session
 * any more, or turned the person's token down.
 */
export async function callUpstream(sending: Sending, id: string): Promise<Reply | RpcFault> {
  const { call, runtime, offer } = sending;
  const credentials = await credentialsFor(call, runtime, offer.server);
  if (isFault(credentials)) return credentials;
  const reply = await attempt(sending, credentials, id);
  if (reply.kind !== 'fault' || reply.code !== 'upstream_auth_failed' || credentials.token === null) return reply;
  const renewed = await credentialsFor(call, runtime, offer.server, credentials.token);
  return isFault(renewed) ? renewed : attempt(sending, renewed, `${id}-r`);
}

async function attempt(sending: Sending, credentials: Credentials, id: string): Promise<Reply> {
  const { call, runtime, request, envelope, offer, signal } = sending;
  const { server, listed } = offer;
  const client = clientOf(request.params);
  for (let again = 0; ; again++) {
    const reached = await reach(call, runtime, server, credentials, client);
    if ('kind' in reached) return reached;
    call.attempts++;
    const reply = await upstreams.request(
      wireOf(call, runtime, credentials, offer.tool.name),
      upstreamOf(server, credentials),
      keyOf(server),
      reached.link,
      {
        id: again === 0 ? id : `${id}-${again}`,
        method: 'tools/call',
        params: paramsOf(sending),
        client,
        // What the client can be asked for, as far as the server may ask at all.
        capabilities: server.allowElicitation && isObject(envelope.clientCapabilities.elicitation) ? { elicitation: { form: {} } } : {},
        headerParameters: listed.parameters,
        signal,
        onNotification: (method, params) => hear(sending, credentials, method, params),
      },
    );
    if (reply.kind === 'fault' || reply.kind === 'error') call.upstreamStatus = reply.status;
    if (reply.kind === 'result') call.upstreamStatus = 200;
    if (reply.kind !== 'session_lost' || !reached.pooled || again > 0) return reply;
    await loseSession(call, server, credentials);
  }
}

/** What the upstream gets of the request: the checked arguments, and of `_meta` only what asks for progress, with a token of ours. */
const paramsOf = ({ offer, args, inputs, progress }: Sending): Params => ({
  ...{ name: offer.tool.name, arguments: args, ...inputs },
  ...(progress.token !== null && { _meta: { progressToken: progress.token } }),
});

/** Of what an upstream tells on the way, progress reaches the caller; logs and the like do not. */
function hear({ offer, progress }: Sending, credentials: Credentials, method: string, params: Params): void {
  if (method === 'notifications/tools/list_changed') forgetCatalogue(offer.server, credentials);
  if (method === 'notifications/progress') progress.hear(params);
}
