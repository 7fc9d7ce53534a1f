import { log } from '#server/platform/log.ts';
import { admit } from '../route/phases/admit.ts';
import { authenticate } from '../route/phases/authenticate.ts';
import { detectLoop } from '../route/phases/detect-loop.ts';
import { findRoute } from '../route/phases/find-route.ts';
import { inspect } from '../route/phases/inspect.ts';
import { leave, limit } from '../route/phases/limit.ts';
import { matchClient } from '../route/phases/match-client.ts';
import { restrict } from '../route/phases/restrict.ts';
import { rewrite } from '../route/phases/rewrite.ts';
import type { Sent } from '../route/test-requests/test-request.ts';
import type { Call } from './call.ts';
import { Exchange } from './exchange.ts';
import { discardBody } from './listener.ts';
import { type Refused, refused } from './refusal.ts';
import { refusalAnswer } from './response-block.ts';
import type { Phase, Runtime } from './runtime.ts';
import { upstreamHeaders } from './upstream-headers.ts';

/**
 * A proxied call from head to log row, in the normative order (interface rule 12 §18): with several faults the first phase answers. What
 * comes before (host, head limits) is the front door's; what comes after the last phase is the exchange with the upstream.
 */
export const phases: readonly Phase[] = [inspect, authenticate, findRoute, matchClient, admit, restrict, detectLoop, limit, rewrite];

/** Serves the call; answers exactly once and records it. Never throws, and resolves nothing: the response is the result. */
export function serve(call: Call, runtime: Runtime): void {
  run(call, runtime, 0);
}

function run(call: Call, runtime: Runtime, from: number) {
  try {
    for (let i = from; i < phases.length; i++) {
      const result = (phases[i] as Phase)(call, runtime);
      if (result instanceof Promise) {
        result.then(
          (refusal) => {
            call.phaseTimings.push(performance.now() - call.began);
            if (refusal) refuse(call, runtime, refusal);
            else run(call, runtime, i + 1);
          },
          (error: unknown) => fail(call, runtime, error),
        );
        return;
      }
      call.phaseTimings.push(performance.now() - call.began);
      if (result !== undefined) return refuse(call, runtime, result);
    }
    forward(call, runtime);
  } catch (error) {
    fail(call, runtime, error);
  }
}

function forward(call: Call, runtime: Runtime) {
  if (call.res.destroyed) return callerGone(call, runtime);
  if (call.trial) {
    call.trial.sent = asSent(call, runtime);
    if (call.trial.dry) return endDry(call, runtime);
  }
  new Exchange(call, runtime, { refuse: (refusal) => refuse(call, runtime, refusal), over: () => over(call, runtime) }).start();
}

function asSent(call: Call, runtime: Runtime): Sent {
  const { shown } = call.trial ?? {};
  const masked = shown ? { ...call, injectedHeaders: shown.headers, upstreamPath: shown.path, body: shown.body } : call;
  return {
    url: `${call.upstream?.scheme}://${call.upstream?.authority}${masked.upstreamPath}`,
    headers: upstreamHeaders(masked, runtime.privateHeaders),
    body: masked.body,
    masked: shown !== null && shown !== undefined,
  };
}

/** Everything was done but sending it. */
function endDry(call: Call, runtime: Runtime) {
  call.latencyMs = Math.round(performance.now() - call.began);
  call.res.writeHead(204).end();
  over(call, runtime);
}

function fail(call: Call, runtime: Runtime, error: unknown): void {
  log.error({ err: error, request_id: call.requestId }, 'a call failed');
  if (call.res.headersSent) {
    call.res.destroy();
    call.error = 'internal_error';
    over(call, runtime);
  } else refuse(call, runtime, refused('internal_error', 'Something went wrong on our side.'));
}

/** Writes a refusal and ends the call. */
export function refuse(call: Call, runtime: Runtime, refusal: Refused) {
  const { req, res, trial } = call;
  if (trial) trial.refusal = refusal;
  if (res.destroyed) return callerGone(call, runtime);
  const { status, head, body } = refusalAnswer(call, refusal);
  call.status = status;
  call.error = refusal.code;
  call.responseBytes = Buffer.byteLength(body);
  // Without our 100 the caller may or may not send its body: the next request cannot be told from it.
  if (!req.complete && req.headers.expect !== undefined) head.fields.push('Connection', 'close');
  res.begin(status, undefined, head).end(body);
  over(call, runtime);
}

function callerGone(call: Call, runtime: Runtime): void {
  call.status = 0;
  call.error = 'client_closed';
  over(call, runtime);
}

function end(call: Call, runtime: Runtime): void {
  leave(call, runtime);
  runtime.bodies.release(call);
}

/** Step 14: everything that comes after the answer. */
function over(call: Call, runtime: Runtime): void {
  if (call.finished) return;
  call.finished = true;
  // What the caller does not take stays in our memory: until then the call is running.
  if (call.inFlight && call.res.writableLength > 0 && !call.res.destroyed) call.res.once('close', () => end(call, runtime));
  else end(call, runtime);
  call.body = null;
  if (!call.req.complete && !call.res.destroyed) discardBody(call.req);
  // What was never sent is not a call, and must not be counted as one.
  if (!call.trial?.dry) runtime.record(call);
}
