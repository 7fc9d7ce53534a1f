import { readEnvelope } from '#server/mcp/envelope.ts';
import { fault, isFault } from '#server/mcp/errors.ts';
import { type RpcNotification, type RpcRequest, readMessage } from '#server/mcp/messages.ts';
import { isLegacyVersion } from '#server/mcp/versions.ts';
import { acceptBody } from '../../core/listener.ts';
import type { ANSWERED, PhaseResult } from '../../core/plane.ts';
import { readBody } from '../../core/request-body.ts';
import type { Runtime } from '../../core/runtime.ts';
import { answerFault, answerNothing } from '../answer.ts';
import { cancel } from '../cancellation.ts';
import type { McpCall } from '../mcp-call.ts';
import { endSession } from '../methods/end-session.ts';
import { serveRequest } from '../methods/serve-request.ts';
import { openSession } from '../sessions.ts';

const MOST_BYTES = 1024 * 1024;

type Serve = (call: McpCall, runtime: Runtime) => Promise<PhaseResult>;

/** Spelled as the `http` of an operation row. */
const CALLS: Readonly<Record<string, Serve>> = {
  'POST /v1/mcp': takeMessage,
  'POST /v1/mcp/{serverSlug}': takeMessage,
  'DELETE /v1/mcp': endSession,
  'DELETE /v1/mcp/{serverSlug}': endSession,
};

/** Answers a call of a place that exists; nothing of the plane comes after. */
export async function serve(call: McpCall, runtime: Runtime): Promise<PhaseResult> {
  const modern = isModern(call);
  const path = call.state.place.kind === 'server' ? '/v1/mcp/{serverSlug}' : '/v1/mcp';
  // The modern era has no sessions.
  const found = modern && call.method === 'DELETE' ? undefined : CALLS[`${call.method} ${path}`];
  if (found) return found(call, runtime);
  const message = call.method === 'GET' ? 'This server opens no streams of its own. Send messages with POST.' : 'Send messages with POST.';
  return answerFault(call, fault('method_not_allowed', message), ['Allow', modern ? 'POST' : 'POST, DELETE']);
}

function isModern({ req: { headers } }: McpCall): boolean {
  const version = headers['mcp-protocol-version'];
  return version !== undefined && !isLegacyVersion(version);
}

async function takeMessage(call: McpCall, runtime: Runtime): Promise<PhaseResult> {
  const { headers } = call.req;
  const text = await readText(call, runtime);
  if (typeof text !== 'string') return text;
  const message = readMessage(text);
  if (message.kind === 'unreadable') {
    call.state.id = message.id;
    return answerFault(call, message.fault);
  }
  if (message.kind === 'request') call.state.id = message.id;
  call.state.method = message.kind === 'response' ? null : message.method;
  const envelope = readEnvelope(message, {
    version: one(headers['mcp-protocol-version']),
    method: one(headers['mcp-method']),
    name: one(headers['mcp-name']),
  });
  if (isFault(envelope)) {
    if (isModern(call) || envelope.code !== 'invalid_request') call.state.era = 'modern';
    return answerFault(call, envelope);
  }
  call.state.era = envelope.era;
  call.state.version = envelope.version;
  const session = await sessionOf(call, runtime, message.kind === 'response' ? '' : message.method);
  if (session !== undefined) return session;
  if (message.kind === 'response') return answerNothing(call, 202);
  return message.kind === 'request' ? serveRequest(call, runtime, message as RpcRequest, envelope) : hear(call, message);
}

const one = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value.join(', ') : value);

async function readText(call: McpCall, runtime: Runtime): Promise<string | typeof ANSWERED> {
  const { req, res, contentType, contentEncoding, contentLength } = call;
  if (contentType.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json')
    return answerFault(call, fault('unsupported_media_type', 'Send the message as application/json.'));
  if (contentEncoding !== '' && contentEncoding !== 'identity')
    return answerFault(call, fault('unsupported_media_type', 'Send the message without content encoding.'));
  if (contentLength > MOST_BYTES) return answerFault(call, TOO_LARGE);
  acceptBody(req, res);
  const read = await readBody(req, MOST_BYTES, (bytes) => runtime.bodies.hold(call, bytes));
  switch (read.state) {
    case 'whole':
      call.requestBytes = read.body.length;
      return read.body.toString('utf8');
    case 'longer':
      return answerFault(call, TOO_LARGE);
    case 'crowded':
      return answerFault(
        call,
        fault('dependency_unavailable', 'The gateway has no memory left for this message. Try again shortly.', { retryAfter: 1 }),
      );
    default:
      return answerFault(call, fault('invalid_request', "The message wasn't fully received."));
  }
}

const TOO_LARGE = fault('payload_too_large', 'A message must not exceed 1 MiB.');

/** The session of a legacy message, which all need but the one that begins it. Undefined: it may go on. */
async function sessionOf(call: McpCall, runtime: Runtime, method: string): Promise<typeof ANSWERED | undefined> {
  if (call.state.era === 'modern' || method === 'initialize') return undefined;
  const id = one(call.req.headers['mcp-session-id']);
  if (id === undefined) return answerFault(call, fault('session_required', 'The header MCP-Session-Id is missing. Initialize first.'));
  const session = await openSession(call, runtime, id);
  if (!session) return answerFault(call, fault('unknown_session', 'This session is unknown or over. Initialize again.'));
  call.state.session = session;
  call.state.sessionId = id;
  return undefined;
}

/** What needs no answer. The upstream was told of the end of the handshake when it was made. */
function hear(call: McpCall, { method, params }: RpcNotification): typeof ANSWERED {
  if (method === 'notifications/cancelled') cancel(call, params.requestId);
  return answerNothing(call, 202);
}
