import { dashboardBody, dashboardFailure } from '#server/api/envelope.ts';
import { idempotencyKeyOf, runIdempotently } from '#server/api/idempotency.ts';
import { bodyOf, mergedInput } from '#server/api/input.ts';
import { matchDashboard } from '#server/api/operations.ts';
import { perform, performRaw } from '#server/api/perform.ts';
import { answerOf, REVEAL_HEADERS, refusalHeaders, respond, respondJson, secured, type Wire } from '#server/api/respond.ts';
import { answeringRow } from '#server/api/reveal.ts';
import { assertNotForeign } from '#server/auth/same-origin.ts';
import { announced, type Ctx } from '#server/kernel/context.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AnyOperation, isChange, streamOf, successesOf, takesIdempotencyKey } from '#server/kernel/operation.ts';
import type { RawBody } from '#server/kernel/raw-body.ts';
import { NEWEST } from '#server/kernel/versions.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { callOf, dashboardContext } from './context.ts';

/** The documented /admin paths over plain HTTP: the same rows, authorisation and audit as their tRPC procedures (interface rule 22 §1). */
export const handleDashboard = (req: Request): Promise<Response> => dashboardResponse(req, matchDashboard);

/** The answer of a table of rows to one request. */
export async function dashboardResponse(req: Request, matchRow: typeof matchDashboard): Promise<Response> {
  let requestId = newId();
  try {
    const context = dashboardContext(callOf(req));
    requestId = context.request_id;
    const url = new URL(req.url);
    const match = matchRow(req.method, url.pathname, url.searchParams);
    if (!match) throw new Refusal('not_found', 'No such path.');
    if ('allow' in match)
      throw new Refusal('method_not_allowed', `Method not allowed. This path supports ${match.allow.join(', ')}.`, {
        headers: { allow: match.allow.join(', ') },
      });
    const { op, params } = match;
    // A download is recorded under the person's name, and a reveal spends their confirmation: no link on a foreign page may start one.
    if (op.stream || op.kind === 'reveal') assertNotForeign(req.headers);
    const ctx = await context.member({ space: false });
    const body = await bodyOf(req);
    const input = mergedInput(op, req, params, body);
    const row = await answeringRow(op, ctx, input);
    if (row.kind === 'reveal') return await revealed(row, ctx, req, input, body);
    const stream = streamOf(row, input);
    if (stream) return raw(await performRaw(row, stream, ctx, input), requestId);
    const { output, result } = await perform(row, ctx, input);
    const changes = isChange(row) ? announced(ctx) : [];
    return respondJson(successesOf(row)[0] ?? 200, dashboardBody(row, output, result), requestId, {
      ...(changes.length > 0 ? { 'x-sallyport-changed': changes.join(',') } : {}),
    });
  } catch (error) {
    return refused(asRefusal(error), requestId);
  }
}

/**
 * The answer of a reveal. A GET must name its workspace: browsers ask before they send that header to another origin, so no foreign page can spend a
 * verification (interface rule 32 §4, step 0). A repeated idempotency key shows nothing a second time.
 */
async function revealed(op: AnyOperation, ctx: Ctx, req: Request, input: Record<string, unknown>, body: Uint8Array): Promise<Response> {
  if (req.method === 'GET' && !req.headers.has('x-tenant-id'))
    throw new Refusal('csrf_failed', 'X-Tenant-ID: is required to reveal a value. Send the ID or slug of the workspace.');
  const { stream } = op;
  if (stream) return raw(await performRaw(op, stream, ctx, input), ctx.request_id, REVEAL_HEADERS);
  const show = async (c: Ctx): Promise<Wire> => {
    const { output, result } = await perform(op, c, input);
    const changes: Record<string, string> = c.changed_elsewhere ? { 'x-sallyport-changed': announced(c).join(',') } : {};
    return answerOf(op, successesOf(op)[0] ?? 200, dashboardBody(op, output, result), { ...REVEAL_HEADERS, ...changes });
  };
  const key = takesIdempotencyKey(op) ? idempotencyKeyOf(req.headers) : null;
  const { pathname, search } = new URL(req.url);
  const call = {
    ctx,
    method: req.method,
    path: pathname,
    query: search.slice(1),
    body,
    kind: op.kind,
    version: NEWEST,
    outside: op.outside,
  };
  const wire = key === null ? await show(ctx) : await runIdempotently({ ...call, key }, show);
  return respond(wire, ctx.request_id, 'uncompressed');
}

/** A download brings its own headers. */
const raw = ({ status, headers, body }: RawBody, requestId: string, more: Record<string, string> = {}) =>
  secured(new Response(body, { status, headers: { ...headers, ...more } }), requestId);

/** A failure of the dashboard plane; our own faults are logged here, once. */
export function refused(refusal: Refusal, requestId: string): Response {
  logFailure(refusal, requestId, 'dashboard request failed');
  return respondJson(refusal.status, dashboardFailure(refusal, requestId), requestId, refusalHeaders(refusal));
}
