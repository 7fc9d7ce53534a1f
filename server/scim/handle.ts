import type { ScimCaller } from '#server/api/credentials/scim.ts';
import { type Edge, edgeOf } from '#server/api/edge.ts';
import { respond, type Wire } from '#server/api/respond.ts';
import { recordScimCall } from '#server/domain/scim-credentials/service.ts';
import { announced, type Ctx } from '#server/kernel/context.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { authenticate, contextOf, hostOf } from './authenticate.ts';
import { objectOf, operationsOf } from './body.ts';
import { shieldFromFlood, takeBudget } from './budget.ts';
import { documentOf } from './discovery.ts';
import { listQueryOf, listResponse } from './listing.ts';
import { type Target, targetOf } from './paths.ts';
import { assertPlan } from './plan.ts';
import { asProblem, problemBody, type ScimProblem } from './problem.ts';
import { project, selectionOf } from './project/project.ts';
import type { ScimObject } from './schema/read.ts';

type Call = { req: Request; url: URL; edge: Edge; now: Date; caller: ScimCaller | null; ctx: Ctx | null };

/** The SCIM plane as one function. The steps stand in the order of interface rule 23 §1; that order is product behaviour. */
export async function handleScim(req: Request, edge: Edge | null = edgeOf(req.headers)): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  const call: Call = { req, url: new URL(req.url), edge, now: new Date(), caller: null, ctx: null };
  let wire: Wire;
  let problem: ScimProblem | null = null;
  try {
    wire = await answer(call);
  } catch (error) {
    problem = asProblem(error);
    if (problem.status >= 500) logFailure(problem.cause ?? problem, edge.request_id, 'SCIM request failed');
    wire = { status: problem.status, body: JSON.stringify(problemBody(problem)), headers: problem.headers };
  }
  if (call.caller) record(call, call.caller, wire.status, problem);
  const headers = { ...(wire.status === 204 ? {} : { 'content-type': MEDIA_TYPE }), ...wire.headers };
  const response = await respond({ ...wire, headers }, edge.request_id, { accept: req.headers.get('accept-encoding') });
  // The gateway waits until its snapshot has the change before it relays this answer.
  if (call.ctx && req.method !== 'GET' && wire.status < 300) response.headers.set('x-sallyport-changed', announced(call.ctx).join(','));
  return response;
}

const MEDIA_TYPE = 'application/scim+json; charset=utf-8';

async function answer(call: Call): Promise<Wire> {
  const { req, url, edge, now } = call;
  const host = await hostOf(req.headers);
  const target = targetOf(req.method, url.pathname);
  await shieldFromFlood(edge.ip, now);
  const caller = await authenticate(req.headers, host, edge, now);
  call.caller = caller;
  await takeBudget(caller.tenant_id, caller.space, now);
  const base = `${req.headers.get('x-sallyport-proto') ?? 'https'}://${req.headers.get('host') ?? url.host}/scim/v2`;
  if (target.kind === 'document') return json(200, documentOf(target.name, target.id, base));
  assertPlan(caller);
  call.ctx = contextOf(caller, edge, now);
  target.resource.admits?.({ ctx: call.ctx });
  return served(call, call.ctx, target, base);
}

async function served({ req, url }: Call, ctx: Ctx, { resource, verb, id }: Target & { kind: 'resource' }, base: string): Promise<Wire> {
  const scim = { ctx };
  const selection = selectionOf(url.searchParams, resource.type);
  const shown = (found: ScimObject) => {
    const meta = { ...(found.meta as ScimObject), location: locationOf(base, resource.type.endpoint, found) };
    return project({ ...found, meta }, selection, resource.type);
  };
  switch (verb) {
    case 'list': {
      const query = listQueryOf(url.searchParams);
      const { total, resources } = await resource.list(scim, query);
      return json(200, listResponse(total, query.startIndex, resources.map(shown)));
    }
    case 'get':
      return json(200, shown(await resource.get(scim, id)));
    case 'create': {
      const created = await resource.create(scim, await objectOf(req));
      return json(201, shown(created), { location: locationOf(base, resource.type.endpoint, created) });
    }
    case 'replace':
      return json(200, shown(await resource.replace(scim, id, await objectOf(req))));
    case 'patch':
      return json(200, shown(await resource.patch(scim, id, operationsOf(await objectOf(req)))));
    case 'remove':
      await resource.remove(scim, id);
      return { status: 204, body: '', headers: {} };
  }
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Wire => ({
  status,
  body: JSON.stringify(body),
  headers,
});

const locationOf = (base: string, endpoint: string, { id }: ScimObject) => `${base}${endpoint}/${String(id)}`;

/** What the setup page lists as the latest calls: no bodies, and of the query only what SCIM defines. */
function record({ req, url, edge, now }: Call, caller: ScimCaller, status: number, problem: ScimProblem | null): void {
  const known = [...url.searchParams].filter(([name]) => QUERY.has(name)).map(([name, value]) => `${name}=${value}`);
  recordScimCall({
    tenant_id: caller.tenant_id,
    credential_id: caller.id,
    method: req.method,
    target: `${url.pathname.slice('/scim/v2'.length)}${known.length ? `?${known.join('&')}` : ''}`,
    status,
    scim_type: problem?.scimType ?? null,
    error: problem?.error ?? null,
    detail: problem?.message || null,
    request_id: edge.request_id,
    ip: edge.ip,
    began_at: now,
  });
}
const QUERY = new Set(['filter', 'startIndex', 'count', 'attributes', 'excludedAttributes', 'sortBy', 'sortOrder']);
