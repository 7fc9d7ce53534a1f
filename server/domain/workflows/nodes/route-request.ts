import { type ReachProblem, reachOf } from '#server/domain/authorities/service.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { askGateway } from '#server/platform/gateway-control.ts';
import { isRecord } from '../definition.shared.ts';
import { COST, charge } from '../expressions/meter.shared.ts';
import { doubleOf } from '../expressions/numbers.shared.ts';
import { RouteAnswer, type RouteOrder } from '../route-order.schema.ts';
import { routeIdOf } from '../routes-called.ts';
import { answerOf, bodyOf, isRetryable } from './answers.ts';
import { evaluatedText, failed, InvalidConfig, type NodeCall, type NodeKind, succeeded, textOf } from './node-call.ts';
import { requestIdOf } from './request-ids.ts';
import { secretsFor } from './secrets.ts';

const TIMEOUT_MS = 30_000;
const MOST_BODY = 256 * 1024;

/** One call of a route of the workspace, which injects its secrets itself: this node never has them (interface rule 62 §3.1). */
export const routeRequest: NodeKind = async (call) => {
  const { order, routeId, shown } = await orderOf(call);
  const reach = await reachOf(call.place, call.authorities, routeId, call.now);
  if (reach.problem !== null) return failed('route_forbidden', forbidden(reach.problem), { input: shown });
  let answer: Answer;
  try {
    answer = parsed(
      await askGateway(
        { ...order, callers: reach.callers } satisfies RouteOrder,
        '/workflow-requests',
        call.pace?.(order.body?.length ?? 0),
      ),
    );
  } catch (error) {
    if (!(error instanceof Refusal) || call.signal.aborted) throw error;
    return failed('network', 'The gateway is not responding.', { input: shown, retry: { reason: 'network', afterMs: 0 } });
  }
  if (call.signal.aborted) throw call.signal.reason;
  if (answer === null)
    return failed('timeout', 'The route did not answer in time.', { input: shown, retry: { reason: 'timeout', afterMs: 0 } });
  const response = { status: answer.status, headers: answer.headers, body: Buffer.from(answer.body, 'base64'), truncated: answer.cut };
  const output = { ...(await answerOf(response, shown.url, shown.method)), request_id: order.request_id };
  const more = { input: shown, truncated: answer.cut };
  if (call.config.failOnStatus === false || response.status < 400) return succeeded(output, ['out'], more);
  const code = answer.headers['x-svc-origin'] === 'service' ? answer.headers['x-svc-error'] : undefined;
  const message =
    code === undefined
      ? `The route answered with status ${response.status}.`
      : `The route refused the call (${code}).${reasonOf(code, output.body)}`;
  const retry = isRetryable(response);
  return failed('http_status', message, { ...more, output, ...(retry ? { retry } : {}) });
};

/** Codes that have several causes, such as an answer that can't be searched for secrets: the gateway says which, with its next step. */
const SEVERAL: ReadonlySet<string> = new Set(['upstream_protocol_error', 'upstream_response_too_large']);

function reasonOf(code: unknown, body: unknown): string {
  const error = SEVERAL.has(String(code)) && isRecord(body) && isRecord(body.error) ? body.error : {};
  return typeof error.message === 'string' ? ` ${error.message}` : '';
}

/** With its next step. */
function forbidden(problem: ReachProblem): string {
  if (problem.why === 'unknown') return "It isn't known who published this workflow. Publish it again, then start a new run.";
  const { label } = problem;
  return problem.why === 'ended'
    ? `${label || 'The credential'}, on whose behalf this run calls routes, may no longer call them. Let somebody who may publish the workflow again, then start a new run.`
    : `The tenant policy ${problem.policy} denies ${label}, on whose behalf this run calls routes, to call this one. Change the policy, or let somebody who may publish the workflow again.`;
}

type Answer = ReturnType<typeof RouteAnswer.parse>;
const parsed = (given: unknown): Answer => RouteAnswer.parse(isRecord(given) ? given.answer : undefined);

type Shown = { method: string; url: string; headers: Record<string, string>; body?: unknown };

async function orderOf(call: NodeCall): Promise<{ order: Omit<RouteOrder, 'callers'>; routeId: string; shown: Shown }> {
  const { config, place } = call;
  const route = evaluatedText(call, config.route, true);
  const path = evaluatedText(call, config.path, true);
  if (!path.startsWith('/') || /[^\x21-\x7e]|#/.test(path)) throw new InvalidConfig('path must begin with / and be percent-encoded');
  const query = (isRecord(config.query) ? Object.entries(config.query) : []).map(([name, value]) => {
    const text = evaluatedText(call, value);
    charge(call.meter, (name.length + text.length) * COST.escape);
    return `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;
  });
  // By its ID, so that what is called is what was asked for, whatever is called how meanwhile.
  const routeId = await routeIdOf(place, route);
  if (routeId === null)
    throw new InvalidConfig(`route "${route.slice(0, 80)}" doesn't exist: name a route of this space by its ID, slug or name`);
  const rest = `${path}${query.length === 0 ? '' : `${path.includes('?') ? '&' : '?'}${query.join('&')}`}`;
  const url = `/${encodeURIComponent(route)}${rest}`;
  const method = textOf(config.method).toUpperCase();
  const headers: Record<string, string> = {};
  for (const [name, value] of isRecord(config.headers) ? Object.entries(config.headers) : []) {
    const text = evaluatedText(call, value, true);
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(name) || /[^\t\x20-\x7e]/.test(text) || OWN.test(name))
      throw new InvalidConfig(`the header ${name.slice(0, 60)} can't be sent as it is`);
    headers[name.toLowerCase()] = text;
  }
  const body = method === 'GET' || method === 'HEAD' ? null : await bodyOf(call, secretsFor(call, url));
  if (body && Buffer.byteLength(body.sent) > MOST_BODY) throw new InvalidConfig('body must be at most 256 KiB');
  if (body) headers['content-type'] ??= body.type;
  headers['idempotency-key'] ??= call.idempotencyKey;
  const { timeoutMs } = config;
  const order = {
    ...{ tenant_id: place.tenant_id, space: spaceOf(place.sandbox), workflow_id: call.execution.workflow_id },
    request_id: requestIdOf(call.runId, call.attempt),
    environment: evaluatedText(call, config.environment) || call.environment,
    ...{ method, target: `/${routeId}${rest}`, headers: Object.entries(headers), body: body?.sent ?? null },
    timeout_ms: doubleOf(timeoutMs) ?? TIMEOUT_MS,
  };
  return { order, routeId, shown: { method, url, headers, ...(body ? { body: body.shown } : {}) } };
}

/** Headers of the connection, and those by which the gateway is told things. */
const OWN = /^(?:x-svc-.*|host|connection|content-length|transfer-encoding|expect|upgrade|accept-encoding)$/i;
