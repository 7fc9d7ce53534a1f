import { asRefusal } from '#server/kernel/errors.ts';
import { log } from '#server/platform/log.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { type SpanSink, spanSink } from '#server/platform/telemetry/spans.ts';
import type { Call } from './call.ts';
import { type CallMeter, callMeter } from './call-meter.ts';
import { tellSpan } from './call-span.ts';
import { Exchange } from './exchange.ts';
import { refuseGrpc } from './grpc/grpc.ts';
import { grpcRefusal } from './grpc/refusal.ts';
import { leaveWorkspace } from './limits.ts';
import { discardBody } from './listener.ts';
import { ANSWERED, type Phase, type PhaseResult, type Plane } from './plane.ts';
import { type Refused, refused } from './refusal.ts';
import type { Runtime } from './runtime.ts';
import { refuseUpgrade } from './websocket/refuse-upgrade.ts';
import type { Tunnel } from './websocket/tunnel.ts';

/** Takes the calls of one plane from their head to their log row: the plane's phases, then the exchange with the upstream. */
export class Pipeline {
  readonly plane: Plane;
  readonly runtime: Runtime;
  readonly #count: CallMeter;

  constructor(plane: Plane, runtime: Runtime) {
    this.plane = plane;
    this.runtime = runtime;
    this.#count = callMeter(plane.name);
  }

  /** Serves the call: answers exactly once and records it. Never throws, and returns nothing: the response is the result. */
  serve(call: Call): void {
    this.#hold(call);
    this.#run(call, 0);
  }

  /** Writes a refusal and ends the call. */
  refuse(call: Call, refusal: Refused<string>): void {
    const { req, res } = call;
    this.#hold(call);
    call.refusal = refusal;
    if (res.destroyed) {
      this.#callerGone(call);
      return;
    }
    const answer = this.plane.refusalAnswer(call, refusal);
    // The log has the status that the refusal has everywhere else.
    call.status = answer.status;
    call.error = refusal.code;
    const { status, head, body } = call.grpc === null ? answer : grpcRefusal(answer, refusal.message);
    call.responseBytes = Buffer.byteLength(body);
    // Without our 100 the caller may or may not send its body: the next request cannot be told from it.
    if (!req.complete && req.headers.expect !== undefined) head.fields.push('Connection', 'close');
    call.capture?.answerInstead(head, body);
    res.begin(status, undefined, head).end(body);
    this.#over(call);
  }

  /** The answer of a call that is logged ends when its row is where nothing takes it away. */
  #hold(call: Call): void {
    if (this.runtime.journaled && this.plane.logged !== false && !call.finished) call.res.holdEnd('log');
  }

  #run(call: Call, from: number): void {
    const { phases } = this.plane;
    try {
      for (let i = from; i < phases.length; i++) {
        const result = (phases[i] as Phase)(call, this.runtime);
        if (result instanceof Promise) {
          result.then(
            (waited) => {
              if (this.#continues(call, waited)) this.#run(call, i + 1);
            },
            (error: unknown) => this.#fail(call, error),
          );
          return;
        }
        if (!this.#continues(call, result)) return;
      }
      this.#forward(call);
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #continues(call: Call, result: PhaseResult): boolean {
    call.phaseTimings.push(performance.now() - call.began);
    if (result === undefined) return true;
    if (result === ANSWERED) this.#over(call);
    else this.refuse(call, result);
    return false;
  }

  #forward(call: Call): void {
    if (call.res.destroyed) {
      this.#callerGone(call);
      return;
    }
    const unfit = call.upgrade !== null ? refuseUpgrade(call, this.runtime) : call.grpc !== null ? refuseGrpc(call) : undefined;
    if (unfit) {
      this.refuse(call, unfit);
      return;
    }
    const exchange = new Exchange(call, this.runtime, {
      refuse: (refusal) => this.refuse(call, refusal),
      over: () => this.#over(call),
      upgraded: (tunnel) => this.#watch(call, tunnel),
    });
    exchange.start();
    if (call.grpc !== null && !call.finished) call.grpc.unwatch = this.#watchGrpc(call, () => exchange.revoke());
  }

  /** A call that became a WebSocket takes none of the places of calls any more; it has one of its own. */
  #watch(call: Call, tunnel: Tunnel): () => void {
    leaveWorkspace(call, this.runtime);
    const { requestId, snapshot } = call;
    const stands = () => this.plane.stands?.(call, this.runtime) ?? false;
    return this.runtime.webSockets.watch({ tenantId: snapshot.tenant.id, requestId, tunnel, stands });
  }

  /** A call of gRPC may be under way for hours: what it was admitted by is asked again, as for WebSockets. */
  #watchGrpc(call: Call, revoke: () => void): () => void {
    const { requestId, snapshot } = call;
    const stands = () => this.plane.stands?.(call, this.runtime) ?? true;
    return this.runtime.grpcCalls.watch({ tenantId: snapshot.tenant.id, requestId, tunnel: { end: revoke }, stands });
  }

  #fail(call: Call, error: unknown): void {
    logFailure(error, call.requestId, 'a call failed');
    if (call.res.headersSent) {
      call.res.destroy();
      call.error = 'internal_error';
      this.#over(call);
      return;
    }
    const { type, message } = asRefusal(error);
    this.refuse(
      call,
      type === 'dependency_unavailable' ? refused(type, message) : refused('internal_error', 'Something went wrong on our side.'),
    );
  }

  #callerGone(call: Call): void {
    call.status = 0;
    call.error = 'client_closed';
    this.#over(call);
  }

  /** Everything that comes after the answer. */
  #over(call: Call): void {
    if (call.finished) return;
    call.finished = true;
    try {
      this.#settle(call);
    } finally {
      // A dry test request was never sent: it isn't a call and isn't logged as one.
      if (!call.test?.dry && this.plane.logged !== false) this.runtime.record(call, this.plane);
      else call.res.letEnd('log');
    }
  }

  #settle(call: Call): void {
    call.grpc?.unwatch?.();
    this.plane.ended?.(call);
    this.#count(call);
    const sink = spanSink();
    if (sink !== null) this.#trace(sink, call);
    // Until the caller has taken the response it occupies our memory, so the call still counts as running.
    if (call.inFlight && (call.res.isHeld || call.res.writableLength > 0) && !call.res.destroyed) this.#releaseWhenTaken(call);
    else this.#release(call);
    call.body = null;
    if (!call.req.complete && !call.res.destroyed) discardBody(call.req);
  }

  /** A span must not cost the call its log row. */
  #trace(sink: SpanSink, call: Call): void {
    try {
      tellSpan(sink, call, this.plane);
    } catch (error) {
      log.debug({ err: error, request_id: call.requestId }, 'a call could not be traced');
    }
  }

  /** An answer to a handshake is taken well before its connection closes. */
  #releaseWhenTaken(call: Call): void {
    const { res } = call;
    const release = () => {
      res.off('finish', release);
      res.off('close', release);
      this.#release(call);
    };
    res.on('finish', release);
    res.on('close', release);
  }

  #release(call: Call): void {
    leaveWorkspace(call, this.runtime);
    this.runtime.bodies.release(call);
  }
}
