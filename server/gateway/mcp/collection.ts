import { assertJsonShape } from '#server/kernel/bounded-text.ts';
import { parseExactSteps } from '#server/kernel/lossless-json.ts';
import { UNNAMED } from '#server/kernel/policy-callers.ts';
import { paced } from '#server/kernel/slices.ts';
import { fault, type RpcFault } from '#server/mcp/errors.ts';
import { isObject, type Params } from '#server/mcp/messages.ts';
import { ArgumentProblem, type ToolOperation, toolRequest } from '#server/mcp/tool-operation.ts';
import { MESSAGE_SHAPE } from '#server/mcp/upstream/message-reader.ts';
import type { Reply } from '#server/mcp/upstream/reply.ts';
import { actingCaller } from '../core/acting-caller.ts';
import type { InProcessAnswer } from '../core/in-process.ts';
import type { Caller } from '../snapshot/model.ts';
import type { Sending } from './sending.ts';

// Tools that are routes of the workspace (interface rule 52 §9): called through the route plane in this process, with everything that holds for its calls.

const MOST_BYTES = 1024 * 1024;
const SHOWN_OF_ERROR = 2_000;
/** A longer answer stays as it is written: indenting can make it many times as long. */
const INDENTED = 64 * 1024;

export async function callRoute({ call, offer, args, signal }: Sending): Promise<Reply | RpcFault> {
  const { row, server } = offer;
  const { routes } = call.state;
  if (!row?.operation || row.routeId === null || !routes) return fault('route_refused', 'This tool has no route any more.');
  const request = requestOf(row.operation, args);
  if ('code' in request) return request;
  call.attempts++;
  const answer = await routes.send({
    snapshot: call.snapshot,
    otherSpace: call.otherSpace,
    caller: callerOf({ call, server }),
    method: request.method,
    target: `/${row.routeId}${request.target}`,
    headers: [
      ...request.headers.flat(),
      'Accept',
      row.operation.result === 'json' ? 'application/json' : '*/*',
      'Accept-Encoding',
      'identity',
      ...(server.environment === null ? [] : ['X-Svc-Environment', server.environment]),
    ],
    body: request.body,
    host: call.host,
    sourceAddress: call.sourceAddress,
    requestId: `${call.requestId}`,
    timeoutMs: row.operation.timeout_ms,
    maxBytes: MOST_BYTES,
    encodesSegments: true,
    signal,
  });
  if (signal.aborted) return { kind: 'canceled' };
  if (answer === null) return fault('upstream_timeout', 'The route did not answer in time.');
  return resultOf(answer, row.operation);
}

function requestOf(operation: ToolOperation, args: Params): ReturnType<typeof toolRequest> | RpcFault {
  try {
    return toolRequest(operation, args);
  } catch (error) {
    if (!(error instanceof ArgumentProblem)) throw error;
    return fault('invalid_arguments', error.message);
  }
}

/** The token by name, bound by the policies of whom it calls for: the person with their role, or the credential that minted it. */
function callerOf({ call, server }: Pick<Sending, 'call'> & { server: Sending['offer']['server'] }): Caller {
  const { principal, person } = call.state;
  const token = principal?.token;
  return actingCaller({
    id: token?.id ?? server.id,
    label: `MCP server ${server.slug}`,
    subjects: token?.subjects ?? UNNAMED,
    userId: person,
  });
}

async function resultOf({ status, header, body, cut }: InProcessAnswer, { result }: ToolOperation): Promise<Reply | RpcFault> {
  const code = header('x-svc-error');
  if (header('x-svc-origin') === 'service' && code !== undefined)
    return fault('route_refused', `The route refused the call (${code}).`, { data: { route_code: code } });
  const text = body.toString('utf8');
  if (status >= 400) return reply({ content: [{ type: 'text', text: `HTTP ${status}\n${text.slice(0, SHOWN_OF_ERROR)}` }], isError: true });
  if (cut) return fault('result_too_large', 'The answer of the route exceeds 1 MiB.');
  const value =
    result === 'json' || /^application\/(?:[a-z0-9.+-]*\+)?json\b/i.test(header('content-type') ?? '') ? await parsed(text) : undefined;
  if (value === undefined) return reply({ content: [{ type: 'text', text: text === '' ? `HTTP ${status}` : text }] });
  const structured = isObject(value) ? { structuredContent: value } : {};
  return reply({ content: [{ type: 'text', text: text.length > INDENTED ? text : JSON.stringify(value, null, 2) }], ...structured });
}

const reply = (result: Params): Reply => ({ kind: 'result', result });

/** Undefined for other texts, and for JSON that is more than a message may be. */
async function parsed(text: string): Promise<unknown> {
  try {
    assertJsonShape(text, MESSAGE_SHAPE);
    return await paced(parseExactSteps(text), text.length);
  } catch {
    return undefined;
  }
}
