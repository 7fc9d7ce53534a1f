import { log } from '#server/platform/log.ts';
import type { Call } from './call.ts';
import { Exchange } from './exchange.ts';
import { discardBody } from './listener.ts';
import { admit } from './phases/admit.ts';
import { authenticate } from './phases/authenticate.ts';
import { detectLoop } from './phases/detect-loop.ts';
import { findRoute } from './phases/find-route.ts';
import { inspect } from './phases/inspect.ts';
import { leave, limit } from './phases/limit.ts';
import { matchClient } from './phases/match-client.ts';
import { restrict } from './phases/restrict.ts';
import { rewrite } from './phases/rewrite.ts';
import type { Phase, Plane } from './plane.ts';
import { type Refused, refused } from './refusal.ts';
import { refusalAnswer } from './response-block.ts';
import type { Sent } from './trial/trial.ts';
import { upstreamHeaders } from './upstream-headers.ts';

/**
 * A proxied call from head to log row, in the normative order (interface rule 12 §18): with several faults the first phase answers. What
 * comes before (host, head limits) is the front door's; what comes after the last phase is the exchange with the upstream.
 */
export const phases: readonly Phase[] = [inspect, authenticate, findRoute, matchClient, admit, restrict, detectLoop, limit, rewrite];

/** Serves the call; answers exactly once and records it. Never throws, and resolves nothing: the response is the result. */
export function serve(call: Call, plane: Plane): void {
  run(call, plane, 0);
}

function run(call: Call, plane: Plane, from: number) {
  try {
    for (let i = from; i < phases.length; i++) {
      const result = (phases[i] as Phase)(call, plane);
      if (result instanceof Promise) {
        result.then(
          (refusal) => {
            call.laps.push(performance.now() - call.began);
            if (refusal) refuse(call, plane, refusal);
            else run(call, plane, i + 1);
          },
          (error: unknown) => fail(call, plane, error),
        );
        return;
      }
      call.laps.push(performance.now() - call.began);
      if (result !== undefined) return refuse(call, plane, result);
    }
    forward(call, plane);
  } catch (error) {
    fail(call, plane, error);
  }
}

function forward(call: Call, plane: Plane) {
  if (call.res.destroyed) return callerGone(call, plane);
  if (call.trial) {
    call.trial.sent = asSent(call, plane);
    if (call.trial.dry) return endDry(call, plane);
  }
  new Exchange(call, plane, { refuse: (refusal) => refuse(call, plane, refusal), over: () => over(call, plane) }).start();
}

function asSent(call: Call, plane: Plane): Sent {
  const { shown } = call.trial ?? {};
  const masked = shown ? { ...call, injectedHeaders: shown.headers, upstreamPath: shown.path, body: shown.body } : call;
  return {
    url: `${call.upstream?.scheme}://${call.upstream?.authority}${masked.upstreamPath}`,
    headers: upstreamHeaders(masked, plane.privateHeaders),
    body: masked.body,
    masked: shown !== null && shown !== undefined,
  };
}

/** Everything was done but sending it. */
function endDry(call: Call, plane: Plane) {
  call.latencyMs = Math.round(performance.now() - call.began);
  call.res.writeHead(204).end();
  over(call, plane);
}

function fail(call: Call, plane: Plane, error: unknown): void {
  log.error({ err: error, request_id: call.requestId }, 'a call failed');
  if (call.res.headersSent) {
    call.res.destroy();
    call.error = 'internal_error';
    over(call, plane);
  } else refuse(call, plane, refused('internal_error', 'Something went wrong on our side.'));
}

/** Writes a refusal and ends the call. */
export function refuse(call: Call, plane: Plane, refusal: Refused) {
  const { req, res, trial } = call;
  if (trial) trial.refusal = refusal;
  if (res.destroyed) return callerGone(call, plane);
  const { status, head, body } = refusalAnswer(call, refusal);
  call.status = status;
  call.error = refusal.code;
  call.responseBytes = Buffer.byteLength(body);
  // Without our 100 the caller may or may not send its body: the next request cannot be told from it.
  if (!req.complete && req.headers.expect !== undefined) head.fields.push('Connection', 'close');
  res.begin(status, undefined, head).end(body);
  over(call, plane);
}

function callerGone(call: Call, plane: Plane): void {
  call.status = 0;
  call.error = 'client_closed';
  over(call, plane);
}

function end(call: Call, plane: Plane): void {
  leave(call, plane);
  plane.bodies.letGo(call);
}

/** Step 14: everything that comes after the answer. */
function over(call: Call, plane: Plane): void {
  if (call.finished) return;
  call.finished = true;
  // What the caller does not take stays in our memory: until then the call is running.
  if (call.inFlight && call.res.writableLength > 0 && !call.res.destroyed) call.res.once('close', () => end(call, plane));
  else end(call, plane);
  call.body = null;
  if (!call.req.complete && !call.res.destroyed) discardBody(call.req);
  // What was never sent is not a call, and must not be counted as one.
  if (!call.trial?.dry) plane.record(call);
}
