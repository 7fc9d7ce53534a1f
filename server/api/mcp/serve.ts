import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { isSatisfied } from '#server/kernel/needs.ts';
import { isChange } from '#server/kernel/operation.ts';
import { resolveVersion } from '#server/kernel/versions.ts';
import { type Envelope, readEnvelope } from '#server/mcp/envelope.ts';
import { errorBody, fault, isFault, isRpcCode, type RpcFault, statusOf } from '#server/mcp/errors.ts';
import { isObject, type Params, type RpcId, type RpcRequest, readMessage } from '#server/mcp/messages.ts';
import { ownResult } from '#server/mcp/results.ts';
import { ArgumentProblem, toolRequest } from '#server/mcp/tool-operation.ts';
import { type Era, negotiate, SUPPORTED_VERSIONS } from '#server/mcp/versions.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { authenticate } from '../authenticate.ts';
import { type Edge, edgeOf } from '../edge.ts';
import { handle, type Plane } from '../handle.ts';
import { bodyOf } from '../input.ts';
import { matchV1 } from '../operations.ts';
import { countAgainstLimit } from '../rate-limit.ts';
import { failure, respond, type Wire } from '../respond.ts';
import { type ManagementTool, managementTools } from './tools.ts';

export const MCP_PATH = '/v1/mcp/sallyport';
const SERVER = { name: 'Sallyport Management API', version: '1' };
const INSTRUCTIONS =
  'Manages this Sallyport workspace: routes, secrets by name, environments, clients, AI gateways and more. Values of secrets are never returned. This connection is read-only unless it was opened with mode=write.';

type Known = Awaited<ReturnType<Plane['authenticate']>>;
type Caller = { req: Request; edge: Edge; known: Known; write: boolean };

/**
 * The Management API as an MCP server (Streamable HTTP, without sessions): its tools are rows of the operation table, and a call of one is a call of the API
 * by the same credential, through the same pipeline. Read-only unless the connection asks for changes.
 */
export async function serveManagementMcp(req: Request, edge: Edge | null = edgeOf(req.headers)): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  let wire: Wire;
  try {
    wire = await answer(req, edge);
  } catch (error) {
    const refusal = asRefusal(error);
    logFailure(refusal, edge.request_id, 'a management MCP call failed');
    wire = failure(refusal, edge.request_id);
    if (refusal.status === 401) wire.headers['www-authenticate'] = challenge(req);
  }
  return respond(wire, edge.request_id, { accept: req.headers.get('accept-encoding') });
}

async function answer(req: Request, edge: Edge): Promise<Wire> {
  // A page of a browser has no business here, whatever credential it holds.
  if (req.headers.has('origin')) throw new Refusal('origin_not_allowed', 'Web pages may not call this server.');
  if (req.method !== 'POST')
    throw new Refusal('method_not_allowed', 'Method not allowed. This server has no streams and no sessions: send POST.', {
      headers: { allow: 'POST' },
    });
  const type = req.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Refusal('unsupported_media_type', 'Send the message as application/json.');
  const text = Buffer.from(await bodyOf(req)).toString('utf8');
  resolveVersion(req.headers.get('service-version'));
  const known = await authenticate(req, edge);
  const caller: Caller = { req, edge, known, write: asksToWrite(req) };
  const message = readMessage(text);
  if (message.kind === 'unreadable') return rpcError(message.id, message.fault, 'legacy', edge);
  const { headers } = req;
  const envelope = readEnvelope(message, {
    version: headers.get('mcp-protocol-version') ?? undefined,
    method: headers.get('mcp-method') ?? undefined,
    name: headers.get('mcp-name') ?? undefined,
  });
  if (isFault(envelope)) return rpcError(message.kind === 'notification' ? null : message.id, envelope, 'modern', edge);
  if (message.kind !== 'request') return { status: 202, body: '', headers: {} };
  return request(caller, message, envelope).catch((error: unknown) => rpcFailure(message.id, error, envelope.era, edge));
}

/** A query for clients that can set nothing but an address, a header for the others. */
const asksToWrite = ({ url, headers }: Request): boolean =>
  new URL(url).searchParams.get('mode') === 'write' || headers.get('x-svc-mcp-mode')?.trim().toLowerCase() === 'write';

async function request(caller: Caller, { id, method, params }: RpcRequest, { era }: Envelope): Promise<Wire> {
  const { edge, known } = caller;
  if (method === 'tools/call') return call(caller, id, params, era);
  const counted = await countAgainstLimit(known.limit, known.ctx.now);
  if (counted.refusal) throw counted.refusal;
  const own = (result: Params) => rpcResult(id, ownResult(era, result, SERVER));
  switch (method) {
    case 'initialize':
      return own({
        protocolVersion: negotiate(params.protocolVersion),
        capabilities: { tools: { listChanged: false } },
        serverInfo: SERVER,
        instructions: INSTRUCTIONS,
      });
    case 'server/discover':
      if (era === 'modern')
        return own({
          supportedVersions: SUPPORTED_VERSIONS,
          capabilities: { tools: {} },
          instructions: INSTRUCTIONS,
          ttlMs: 60_000,
          cacheScope: 'private',
        });
      break;
    case 'ping':
      if (era === 'legacy') return own({});
      break;
    case 'tools/list':
      return own({ tools: offered(caller).map(described), ...(era === 'modern' ? { ttlMs: 60_000, cacheScope: 'private' } : {}) });
  }
  return rpcError(id, fault('method_not_found', `This server doesn't have the method ${method}.`), era, edge);
}

/** What this connection may call: changes only if it asked for them, and nothing that the credential lacks the right to. `families` narrows a long list. */
function offered({ req, known, write }: Caller): ManagementTool[] {
  const families = new URL(req.url).searchParams
    .get('families')
    ?.split(',')
    .map((one) => one.trim().replaceAll('-', '_'));
  return [...managementTools().values()].filter(
    ({ row }) =>
      (write || !isChange(row)) &&
      isSatisfied(row.needs, known.ctx.actor.capabilities) &&
      (families === undefined || families.includes(row.id.split('.')[0] ?? '')),
  );
}

const described = ({ name, title, description, inputSchema, row }: ManagementTool) => ({
  name,
  title,
  description,
  inputSchema,
  annotations: { readOnlyHint: !isChange(row), destructiveHint: row.http.startsWith('DELETE '), openWorldHint: false },
});

async function call(caller: Caller, id: RpcId, params: Params, era: Era): Promise<Wire> {
  const { req, edge, known } = caller;
  const tool = offered(caller).find(({ name }) => name === params.name);
  if (!tool) return rpcError(id, fault('tool_not_allowed', "This tool doesn't exist, or this connection may not call it."), era, edge);
  const args = params.arguments ?? {};
  if (!isObject(args)) return rpcError(id, fault('invalid_arguments', 'arguments must be an object.'), era, edge);
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(tool.inputSchema.properties as object, name));
  if (unknown !== undefined) return rpcError(id, fault('invalid_arguments', `There is no argument ${unknown.slice(0, 100)}.`), era, edge);
  let inner: Request;
  try {
    const { method, target, headers, body } = toolRequest(tool.operation, args);
    inner = new Request(new URL(`/v1${target}`, req.url), {
      method,
      headers: [...headers.map(([name, value]): [string, string] => [name, value]), ...versionOf(req)],
      body,
    });
  } catch (error) {
    if (error instanceof ArgumentProblem) return rpcError(id, fault('invalid_arguments', error.message), era, edge);
    throw error;
  }
  // The credential was presented with this request, so it is not read again: a DPoP proof is for this address.
  const response = await handle(inner, edge, { match: ownOperation(tool), authenticate: async () => known });
  const changed = response.headers.get('x-sallyport-changed');
  return rpcResult(id, ownResult(era, await resultOf(response), SERVER), changed === null ? {} : { 'x-sallyport-changed': changed });
}

/** An argument of the path may be a word that another operation has there: a tool is its own operation, and no other. */
const ownOperation =
  ({ row }: ManagementTool): Plane['match'] =>
  (method, path) => {
    const found = matchV1(method, path);
    return found && 'op' in found && found.op.id !== row.id ? null : found;
  };

const versionOf = ({ headers }: Request): [string, string][] => {
  const version = headers.get('service-version');
  return version === null ? [] : [['service-version', version]];
};

/** The API's own answer; a refusal is a result too, which a model can read and repair. */
async function resultOf(response: Response): Promise<Params> {
  const text = await response.text();
  let body: unknown;
  try {
    body = parseExact(text);
  } catch {
    body = undefined;
  }
  const content = [{ type: 'text', text: body === undefined ? text : JSON.stringify(body, null, 2) }];
  return response.ok ? { content, ...(isObject(body) ? { structuredContent: body } : {}) } : { content, isError: true };
}

const rpcResult = (id: RpcId, result: Params, headers: Record<string, string> = {}): Wire => ({
  status: 200,
  body: JSON.stringify({ jsonrpc: '2.0', id, result }),
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
});

const rpcError = (id: RpcId | null, problem: RpcFault, era: Era, { request_id }: Edge): Wire => ({
  status: statusOf(problem.code, era, id !== null),
  body: JSON.stringify({ jsonrpc: '2.0', id, error: errorBody(problem, request_id) }),
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
});

/**
 * What fails after a message was read is an error of the request, in JSON-RPC as all the others. @throws the limits of a workspace, whose status is fixed
 * (interface rule 52 §7)
 */
function rpcFailure(id: RpcId, error: unknown, era: Era, edge: Edge): Wire {
  const refusal = asRefusal(error);
  if (refusal.status < 500) throw refusal;
  logFailure(refusal, edge.request_id, 'a management MCP call failed');
  const { message, retryAfter, type } = refusal;
  return rpcError(id, fault(isRpcCode(type) ? type : 'internal_error', message, { retryAfter }), era, edge);
}

/** RFC 9728: the Management API's own metadata says where tokens come from. */
const challenge = ({ url }: Request): string =>
  `Bearer realm="mcp", resource_metadata="${new URL('/.well-known/oauth-protected-resource/v1', url).href}"`;
