import { callHook, type HookAnswer, hookByToken } from '#server/domain/workflows/hook-calls.ts';
import { asRefusal, notFound, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { edgeOf } from './edge.ts';
import { managementFailure } from './envelope.ts';
import { BODY_LIMIT, bodyOf } from './input.ts';
import { json, refusalHeaders, secured, type Wire } from './respond.ts';

/**
 * The URLs of workflows, `{hooks_url}/wf/{token}` (interface rule 62 §5). The token is the credential: unknown, disabled and deleted are one answer, and it
 * stands in no log.
 */
export async function handleWorkflowHook(req: Request, edge = edgeOf(req.headers)): Promise<Response> {
  const requestId = edge?.request_id ?? newId();
  const wire = await answer(req, edge).catch((error: unknown) => {
    const refusal = asRefusal(error);
    logFailure(refusal, requestId, 'a call of a workflow was not taken');
    return json(refusal.status, managementFailure(refusal, requestId), refusalHeaders(refusal));
  });
  const bare = req.method === 'HEAD' || wire.status === 204 || wire.status === 304;
  return secured(new Response(bare ? null : wire.body, { status: wire.status, headers: wire.headers }), requestId);
}

async function answer(req: Request, edge: ReturnType<typeof edgeOf>): Promise<Wire> {
  if (!edge) throw notFound();
  const { pathname } = new URL(req.url);
  if (!pathname.startsWith(MOUNT)) throw notFound();
  const hook = await hookByToken(pathname.slice(MOUNT.length), req.method);
  if (edge.fault) throw new Refusal(edge.fault, 'The request is too large.');
  const body = req.method === 'GET' ? new Uint8Array() : await bodyOf(req, BODY_LIMIT);
  const call = { method: req.method, url: req.url, headers: req.headers, body };
  return wireOf(await callHook(db(), hook, { ...call, ip: edge.ip, request_id: edge.request_id, user_agent: edge.user_agent }));
}

const MOUNT = '/hooks/wf/';

function wireOf(answered: HookAnswer): Wire {
  if (answered.kind === 'queued') {
    const { execution_id, status } = answered;
    return json(202, { data: { execution_id, status } });
  }
  const { status, headers, body } = answered;
  const text = typeof body === 'string' ? body : body === null ? '' : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
  return { status, body: text, headers: { 'content-type': type, ...permitted(headers), ...HARMLESS } };
}

/** What a workflow may say in headers. The host is that of the API: nothing may set cookies there, or run as a page of it. */
const PERMITTED =
  /^(?:content-type|content-language|content-disposition|location|retry-after|etag|last-modified|link|x-(?!svc-|request-id$|sallyport-|accel-)[a-z0-9-]+)$/;
const HARMLESS = { 'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'" };

function permitted(headers: Readonly<Record<string, string>>): Record<string, string> {
  const known = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return Object.fromEntries(known.filter(([name, value]) => PERMITTED.test(name) && /^[\t\x20-\x7e]{0,4096}$/.test(value)));
}
