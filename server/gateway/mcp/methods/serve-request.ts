import type { Envelope } from '#server/mcp/envelope.ts';
import { fault, GATEWAY_PAUSED, SERVER_PAUSED } from '#server/mcp/errors.ts';
import type { RpcRequest } from '#server/mcp/messages.ts';
import { ownResult } from '#server/mcp/results.ts';
import { SUPPORTED_VERSIONS } from '#server/mcp/versions.ts';
import type { ANSWERED } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { answerFault, answerResult } from '../answer.ts';
import type { McpCall } from '../mcp-call.ts';
import { serverInfo } from '../server-info.ts';
import { callTool } from './call-tool.ts';
import { initialize } from './initialize.ts';
import { listTools } from './list-tools.ts';

type Answered = typeof ANSWERED | Promise<typeof ANSWERED>;
type Handler = (call: McpCall, runtime: Runtime, request: RpcRequest, envelope: Envelope) => Answered;

const nothing: Handler = (call) => answerResult(call, {});

const DISCOVER_TTL_MS = 60_000;

const discover: Handler = (call) =>
  answerResult(
    call,
    ownResult(
      'modern',
      {
        supportedVersions: SUPPORTED_VERSIONS,
        capabilities: { tools: {} },
        ...(call.state.server?.description ? { instructions: call.state.server.description } : {}),
        ttlMs: DISCOVER_TTL_MS,
        cacheScope: 'private',
      },
      serverInfo(call),
    ),
  );

/** What is served (interface rule 52 §3.1); everything else is unknown, resources and prompts included. */
const LEGACY: Readonly<Record<string, Handler>> = {
  initialize,
  ping: nothing,
  'logging/setLevel': nothing,
  'tools/list': listTools,
  'tools/call': callTool,
};
const MODERN: Readonly<Record<string, Handler>> = { 'server/discover': discover, 'tools/list': listTools, 'tools/call': callTool };

export function serveRequest(call: McpCall, runtime: Runtime, request: RpcRequest, envelope: Envelope): Answered {
  const handlers = envelope.era === 'legacy' ? LEGACY : MODERN;
  const handler = Object.hasOwn(handlers, request.method) ? handlers[request.method] : undefined;
  if (!handler) return answerFault(call, fault('method_not_found', `The method ${request.method.slice(0, 64)} is not served here.`));
  return inactive(call) ?? handler(call, runtime, request, envelope);
}

/** The kill switch: gateway first, then server (interface rule 52 §6, row 3). */
function inactive(call: McpCall): Answered | undefined {
  const { server, principal, person } = call.state;
  const gateway = principal?.gateway;
  if (gateway?.status !== 'active' && !(person !== null && server === null))
    return answerFault(call, fault('gateway_not_active', GATEWAY_PAUSED));
  return server !== null && server.status !== 'active' ? answerFault(call, fault('server_not_active', SERVER_PAUSED)) : undefined;
}
