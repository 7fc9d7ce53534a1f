import { dashboardBody, dashboardFailure } from '#server/api/envelope.ts';
import { bodyOf, mergedInput } from '#server/api/input.ts';
import { matchDashboard } from '#server/api/operations.ts';
import { perform, performRaw } from '#server/api/perform.ts';
import { REVEAL_HEADERS, refusalHeaders, respondJson } from '#server/api/respond.ts';
import { assertNotForeign } from '#server/auth/same-origin.ts';
import { announced } from '#server/kernel/context.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { isChange, successesOf } from '#server/kernel/operation.ts';
import type { RawBody } from '#server/kernel/raw-body.ts';
import { log } from '#server/platform/log.ts';
import { callOf, dashboardContext } from './context.ts';

/** The documented /admin paths over plain HTTP: the same rows, authorisation and audit as their tRPC procedures (interface rule 22 §1). */
export async function handleDashboard(req: Request): Promise<Response> {
  let requestId = newId();
  try {
    const context = dashboardContext(callOf(req));
    requestId = context.request_id;
    const url = new URL(req.url);
    const match = matchDashboard(req.method, url.pathname);
    if (!match) throw new Refusal('not_found', 'No such path.');
    if ('allow' in match)
      throw new Refusal('method_not_allowed', `Method not allowed. This path supports ${match.allow.join(', ')}.`, {
        headers: { allow: match.allow.join(', ') },
      });
    const { op, params } = match;
    // A download is recorded under the person's name: no link on a foreign page may start one.
    if (op.stream) assertNotForeign(req.headers);
    const ctx = await context.member({ space: false });
    const body = await bodyOf(req);
    if (op.stream) return raw(await performRaw(op, op.stream, ctx, mergedInput(op, req, params, body)), requestId);
    const { output, result } = await perform(op, ctx, mergedInput(op, req, params, body));
    const changes = isChange(op) ? announced(ctx) : [];
    return respondJson(successesOf(op)[0] ?? 200, dashboardBody(op, output, result), requestId, {
      ...(op.kind === 'reveal' ? REVEAL_HEADERS : {}),
      ...(changes.length > 0 ? { 'x-sallyport-changed': changes.join(',') } : {}),
    });
  } catch (error) {
    return refused(asRefusal(error), requestId);
  }
}

/** A download brings its own headers. */
const raw = ({ status, headers, body }: RawBody, requestId: string) =>
  new Response(body, { status, headers: { ...headers, 'x-request-id': requestId } });

/** A failure of the dashboard plane; our own faults are logged here, once. */
export function refused(refusal: Refusal, requestId: string): Response {
  if (refusal.status >= 500) log.error({ err: refusal.cause ?? refusal, request_id: requestId }, 'dashboard request failed');
  return respondJson(refusal.status, dashboardFailure(refusal, requestId), requestId, refusalHeaders(refusal));
}
