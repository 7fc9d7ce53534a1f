import { recordVersionUse } from '#server/domain/api-keys/versions/service.ts';
import { freshNonce } from '#server/domain/oauth-grants/dpop.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { type AnyOperation, isChange, streamOf, takesIdempotencyKey } from '#server/kernel/operation.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { NEWEST, resolveVersion } from '#server/kernel/versions.ts';
import { db } from '#server/platform/db.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { operationEnded } from '#server/platform/telemetry/operation-meter.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { clientAnswer, isClientPath, preflight } from './client-calls.ts';
import { type Edge, edgeOf } from './edge.ts';
import { isKnownTag } from './entity-tag.ts';
import { idempotencyKeyOf, runIdempotently } from './idempotency.ts';
import { bodyOf, ignoredFields, mergedInput } from './input.ts';
import { matchV1 } from './operations.ts';
import { execute, performRaw } from './perform.ts';
import { countAgainstLimit } from './rate-limit.ts';
import { failure, type Reader, respond, success, type Wire } from './respond.ts';

const PREFIX = '/v1';

/** What the Management API recognises: its paths and its credentials. */
export type Plane = { match: typeof matchV1; authenticate: typeof authenticate };
export const MANAGEMENT_API: Plane = { match: matchV1, authenticate };

/** The Management API as one function. The steps stand in the order of interface rule 01 §2; that order is product behaviour. */
export async function handle(req: Request, edge: Edge | null = edgeOf(req.headers), plane: Plane = MANAGEMENT_API): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  // Whoever sends proofs learns the nonce of the next one with every answer (RFC 9449 §8.2).
  const headers: Record<string, string> = req.headers.has('dpop') ? { 'dpop-nonce': freshNonce(new Date()) } : {};
  const began = performance.now();
  const call: Call = { req, edge, version: NEWEST, headers, changed: null, reader: readerOf(req), op: undefined, tenant_id: undefined };
  let wire: Wire;
  try {
    wire = await answer(call, plane);
  } catch (error) {
    const refusal = asRefusal(error);
    logFailure(refusal, edge.request_id, 'management API request failed');
    wire = failure(refusal, edge.request_id);
  }
  const response = await respond(
    { ...wire, headers: { 'service-version': call.version, ...call.headers, ...wire.headers } },
    edge.request_id,
    call.reader,
  );
  const { op, tenant_id } = call;
  operationEnded({
    ...{ surface: 'v1', began, status: response.status, request_id: edge.request_id, tenant_id, operation: op?.id },
    ...(op && { route: op.http.replace(' ', ` ${PREFIX}`) }),
    traceparent: req.headers.get('traceparent'),
  });
  // The gateway waits until its snapshot has the change before it relays this answer: a change is visible on the next call.
  if (call.changed) response.headers.set('x-sallyport-changed', call.changed);
  return response;
}

type Call = { req: Request; edge: Edge; version: string; headers: Record<string, string>; changed: string | null; reader: Reader } & {
  /** As soon as they are known. */
  op: AnyOperation | undefined;
  tenant_id: string | undefined;
};

const readerOf = (req: Request): Reader => (req.method === 'HEAD' ? null : { accept: req.headers.get('accept-encoding') });

async function answer(call: Call, plane: Plane): Promise<Wire> {
  const { req, edge } = call;
  const url = new URL(req.url);
  const path = url.pathname.slice(PREFIX.length) || '/';
  if (req.method === 'OPTIONS') return isClientPath(path) ? preflight(req) : { status: 204, body: '', headers: {} };
  const match = plane.match(req.method, path);
  if (!match) throw new Refusal('not_found', 'No such path. See /openapi.json for the available endpoints.');
  if ('allow' in match)
    throw new Refusal('method_not_allowed', `Method not allowed. This path supports ${match.allow.join(', ')}.`, {
      headers: { allow: match.allow.join(', ') },
    });
  if (edge.fault) throw new Refusal(edge.fault, 'The request is too large.');
  const { op, params } = match;
  call.op = op;
  const body = await bodyOf(req, op.body?.limit);
  call.version = resolveVersion(req.headers.get('service-version'));

  if (op.needs === 'client_token') return clientAnswer(op, { req, edge, headers: call.headers }, body);
  if (op.needs === 'anonymous') {
    const ctx = anonymous(edge);
    return performed(op, ctx, mergedInput(op, req, params, body), req.headers);
  }
  const { ctx: caller, limit, legacy_key, legacy_key_auth } = await plane.authenticate(req, edge);
  const ctx: Ctx = { ...caller, db: db() };
  call.tenant_id = ctx.tenant_id;
  recordVersionUse(ctx, call.version, req.headers.has('service-version'));
  const counted = await countAgainstLimit(limit, ctx.now);
  Object.assign(call.headers, counted.headers);
  if (counted.refusal) throw counted.refusal;
  if (legacy_key && (op.oauth_only || legacy_key_auth === 'disabled')) {
    const what = op.oauth_only ? 'endpoint' : 'workspace';
    throw new Refusal('use_oauth', `This ${what} only accepts OAuth access tokens. Exchange the key for one at /oauth/token.`);
  }
  const key = takesIdempotencyKey(op) ? idempotencyKeyOf(req.headers) : null;
  await authorize(op, ctx, () => mergedInput(op, req, params, body));
  if (isChange(op)) call.changed = `${ctx.tenant_id}:${edge.space}`;
  const run = (c: Ctx) => performed(op, c, mergedInput(op, req, params, body), req.headers);
  if (key === null) return run(ctx);
  return runIdempotently(
    {
      ctx,
      key,
      method: req.method,
      path: url.pathname,
      query: url.search.slice(1),
      body,
      kind: op.kind,
      version: call.version,
      outside: op.outside,
    },
    run,
  );
}

async function performed(op: AnyOperation, ctx: Ctx, raw: Record<string, unknown>, asked: Headers): Promise<Wire> {
  const stream = streamOf(op, raw);
  if (stream) {
    const { status, headers, body } = await performRaw(op, stream, ctx, raw);
    const wire: Wire =
      body instanceof Uint8Array
        ? { status, headers, body: '', bytes: body }
        : { status, headers, body: await textOf({ status, headers, body }) };
    const { etag } = headers;
    return etag === undefined ? wire : tagged(wire, etag, asked.get('if-none-match'));
  }
  const { output, result } = await execute(op, ctx, raw);
  const ignored = ignoredFields(op, raw);
  const wire = success(op, output, result, ctx.request_id, ignored ? [...ctx.warnings, ignored] : ctx.warnings);
  return op.etag === undefined ? wire : tagged(wire, op.etag(output), asked.get('if-none-match'));
}

/** Adds the entity tag; a caller who has it already gets no body (RFC 9110 §13.1.2, weak comparison). */
function tagged(wire: Wire, etag: string, known: string | null): Wire {
  const headers = { ...wire.headers, etag };
  if (!isKnownTag(known, etag)) return { ...wire, headers };
  const { 'content-type': _, ...bare }: Record<string, string> = headers;
  return { status: 304, body: '', headers: bare };
}

const anonymous = (edge: Edge): Ctx => ({
  db: db(),
  tenant_id: '',
  sandbox: edge.space === 'test',
  actor: { type: 'anonymous', id: null, label: 'anonymous', capabilities: new Set() },
  plan: 'free',
  request_id: edge.request_id,
  ip: edge.ip,
  user_agent: edge.user_agent,
  now: new Date(),
  warnings: [],
});
