import type { Recognised } from '#server/api/credentials/api-key.ts';
import type { Edge } from '#server/api/edge.ts';
import { edgeOf } from '#server/api/edge.ts';
import { handle, MANAGEMENT_API, type Plane } from '#server/api/handle.ts';
import { bodyFields, bodyOf } from '#server/api/input.ts';
import { firstProblem } from '#server/api/parse.ts';
import { respondJson } from '#server/api/respond.ts';
import { ExplorerSend } from '#server/domain/explorer/schema.ts';
import { recordCall } from '#server/domain/explorer/service.ts';
import { personCapabilities } from '#server/kernel/capabilities.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { asRefusal, invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { log } from '#server/platform/log.ts';
import { callOf, dashboardContext } from './context.ts';
import { refused } from './dashboard.ts';

/** A person's explorer shapes no machine traffic: this is far above what hands can do. */
const PER_MINUTE = 120;

/**
 * `POST /admin/explorer/send`: one call of /v1 as the signed-in person (interface rule 70 §11). No token is made for it: the call runs through the very
 * pipeline of /v1 in this process, with the member as its actor and the member's rights narrowed to those a person's token may ever carry. So there is
 * no credential that could leak or outlive the call, no second way of authentication, and no address a form could point it at.
 */
export async function handleExplorer(req: Request): Promise<Response> {
  let requestId = newId();
  try {
    const context = dashboardContext(callOf(req));
    requestId = context.request_id;
    const ctx = await context.member({ space: true });
    const edge = edgeOf(req.headers);
    if (!edge) throw new Refusal('not_authenticated', 'Sign in to continue.');
    return await sendAs(ctx, edge, bodyFields({ input: ExplorerSend }, req, await bodyOf(req)));
  } catch (error) {
    return refused(asRefusal(error), requestId);
  }
}

/** The call of a member who is known. @throws Refusal for what must not even reach the pipeline */
export async function sendAs(ctx: Ctx, edge: Edge, raw: unknown, plane: Plane = MANAGEMENT_API): Promise<Response> {
  const parsed = ExplorerSend.safeParse(raw);
  if (!parsed.success) throw new Refusal('validation_error', firstProblem(parsed.error));
  const input = parsed.data;
  const { method, path, query, body } = input;
  const url = addressOf(path, query);
  const match = plane.match(method, url.pathname.slice('/v1'.length));
  if (match && 'op' in match && match.op.needs === 'anonymous')
    throw new Refusal('forbidden', 'Sign-up is for callers without an account. Run the code outside the dashboard.');
  if (match && 'op' in match && match.op.needs === 'client_token')
    throw new Refusal('forbidden', 'Client tokens are spent by pages and agents, not by people. Run the code outside the dashboard.');
  if (match && 'op' in match && match.op.kind === 'reveal')
    throw new Refusal('forbidden', "The API explorer doesn't show stored secrets. Run the code outside the dashboard.");
  if (!ctx.sandbox && method !== 'GET' && !input.confirmed) throw new Refusal('invalid', 'confirmed: Live changes must be confirmed');
  const headers = new Headers({ ...present(input.headers), ...(body === undefined ? {} : { 'content-type': 'application/json' }) });
  const request = new Request(url, { method, headers, ...(body === undefined || method === 'GET' ? {} : { body: JSON.stringify(body) }) });
  const began = performance.now();
  const response = await handle(request, { ...edge, space: spaceOf(ctx.sandbox) }, { ...plane, authenticate: async () => asMember(ctx) });
  const text = await response.text();
  const duration_ms = Math.round((performance.now() - began) * 10) / 10;
  const changed = response.headers.get('x-sallyport-changed');
  if (match && 'op' in match)
    await recordCall(ctx, {
      op: match.op,
      method,
      path: url.pathname.slice('/v1'.length),
      query: url.search.slice(1),
      body,
      status: response.status,
      error: errorOf(text, response.status),
      duration_ms: Math.round(duration_ms),
    }).catch((error: unknown) => log.warn({ err: error, request_id: ctx.request_id }, 'failed to save an explorer call'));
  return respondJson(
    200,
    {
      status: response.status,
      headers: [...response.headers].filter(([name]) => name !== 'x-sallyport-changed'),
      body: text,
      duration_ms,
      request_id: response.headers.get('x-request-id') ?? ctx.request_id,
    },
    ctx.request_id,
    changed ? { 'x-sallyport-changed': changed } : {},
  );
}

const asMember = (ctx: Ctx): Recognised => ({
  ctx: narrowed(ctx),
  limit: { id: `explorer:${ctx.actor.id}`, requests: PER_MINUTE, window_sec: 60 },
  legacy_key: false,
  legacy_key_auth: 'enabled',
});

/** An address below /v1 and nothing else: what a parser would move elsewhere is refused as it stands. */
function addressOf(path: string, query: Record<string, string>): URL {
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[?#\\]|\/\/|%2f|%5c|%00/i.test(path) || /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path))
    throw invalid('path', 'must be a path of the Management API, such as /routes');
  const url = new URL(`http://management.invalid/v1${path}`);
  if (url.pathname !== `/v1${path}`) throw invalid('path', 'must be a path of the Management API, such as /routes');
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
  return url;
}

/** The member with what a person's token may carry at most (interface rule 24 §5); the audit shows where the call came from. */
const narrowed = (ctx: Ctx): Ctx => ({
  ...ctx,
  actor: ctx.actor.type === 'member' ? { ...ctx.actor, capabilities: personCapabilities(ctx.actor.capabilities) } : ctx.actor,
  user_agent: `API explorer; ${ctx.user_agent ?? 'unknown'}`.slice(0, 256),
});

const present = (headers: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));

function errorOf(text: string, status: number): string | null {
  if (status < 400) return null;
  try {
    return (JSON.parse(text) as { error?: { type?: string } }).error?.type ?? null;
  } catch {
    return null;
  }
}
