import type { Socket } from 'node:net';
import { classifyFault, UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { UpstreamCall, UpstreamHandler } from '#server/platform/http-out/upstream-call.ts';
import type { AnswerFlow, AnswerPlan } from './answer-edit.ts';
import { type AnswerHead, idleOf, STREAM_IDLE_MS, writeHead } from './answer-head.ts';
import { BufferedResponse, writeCopy } from './buffered-response.ts';
import { type Call, noteClosed } from './call.ts';
import { CallTimer } from './call-timer.ts';
import type { Capture } from './capture.ts';
import { ChangedAnswer } from './changed-answer.ts';
import { afterReads } from './event-loop-turn.ts';
import { causeOf, flush, freeBody, type Outcome, poolOf, refusalOf, relayOf, requestOf, scrubbedFor } from './exchange-parts.ts';
import { endAnswer, noteStatus, noteTrailers } from './grpc/trailers.ts';
import { acceptBody } from './listener.ts';
import { type Refused, refused } from './refusal.ts';
import { renewing } from './renewing-handler.ts';
import type { BodyRelay, LineRelay } from './request-body.ts';
import { DISCARDED_RESPONSE, Retries } from './retries.ts';
import type { Runtime } from './runtime.ts';
import { upstreamHeaders } from './upstream-headers.ts';
import { bufferedLength, fieldOf } from './upstream-response.ts';
import { openTunnel } from './websocket/open-tunnel.ts';
import { refuseUpgrade } from './websocket/refuse-upgrade.ts';

/**
 * Steps 12 and 13: one call to its upstream and back (interface rules 12 §10, §11, §13). It owns the upstream request, its timer and the
 * right to write to the caller; whatever happens, exactly one outcome is told.
 */
export class Exchange implements UpstreamHandler {
  readonly #call: Call;
  readonly #runtime: Runtime;
  readonly #outcome: Outcome;
  #headers: string[];
  readonly #retries: Retries;
  #sent: UpstreamCall | undefined;
  /** The answer of `#sent`, or what comes out of its scrub. */
  #answer: AnswerFlow | undefined;
  #relay: BodyRelay | LineRelay | undefined;
  readonly #timer = new CallTimer(() => this.#timedOut());
  #state: 'waiting' | 'buffering' | 'discarding' | 'changing' | 'streaming' | 'upgraded' | 'over' = 'waiting';
  /** An answer that is awaited whole. */
  #held: BufferedResponse | undefined;
  #received = 0;
  #head: AnswerHead = { status: 0, reason: '', headers: [] };
  #paused = false;
  /** An answer that the plane changes before it is sent. */
  #changed: ChangedAnswer | undefined;
  /** Keeps what of the answer passes by; null for most calls. */
  #kept: Capture | null = null;

  constructor(call: Call, runtime: Runtime, outcome: Outcome) {
    this.#call = call;
    this.#runtime = runtime;
    this.#outcome = outcome;
    this.#headers = call.ownHeaders ?? upstreamHeaders(call, runtime.privateHeaders);
    this.#retries = new Retries(call);
  }

  start(): void {
    const { req, res } = this.#call;
    res.on('close', () => this.#callerClosed());
    if (this.#call.streamsBody) {
      acceptBody(req, res);
      this.#relay = relayOf(this.#call, this.#runtime, (error) => this.#bodyFailed(error));
    }
    this.#timer.arm(this.#call.forwarding?.timeoutMs ?? 30_000);
    if (this.#call.grpc !== null) this.#timer.deadline(this.#call.grpc.timeoutMs);
    this.#dispatch();
  }

  #dispatch() {
    const call = this.#call;
    const target = call.upstream;
    if (!target) return this.#refuse(refused('internal_error', 'The call has no target.'));
    this.#state = 'waiting';
    this.#timer.dispatched();
    call.attempts++;
    call.upstreamFault = null;
    const scrubbed = scrubbedFor(call, this.#runtime, this, () => this.#sent);
    try {
      const handler = renewing(call, scrubbed ?? this, { sent: () => this.#sent, resend: () => this.#resend() });
      this.#sent = poolOf(call, this.#runtime, target).send(requestOf(call, this.#headers, this.#relay), handler);
      this.#answer = scrubbed ?? this.#sent;
    } catch (error) {
      this.onFault(classifyFault(error, target.host));
    }
  }

  /** With the token that was renewed. */
  #resend(): void {
    this.#headers = upstreamHeaders(this.#call, this.#runtime.privateHeaders);
    if (this.#state !== 'over') this.#dispatch();
  }

  onHead(status: number, headers: HeaderList, reason: string): void {
    this.#head = { status, reason, headers, spelled: headers.spelled };
    if (this.#call.grpc !== null) noteStatus(this.#call, headers);
    if (this.#retries.afterStatus(status, fieldOf(headers, 'retry-after'))) {
      this.#state = 'discarding';
      return;
    }
    const { capture, answerEdit } = this.#call;
    if (capture?.wants(status)) this.#kept = capture;
    const plan = answerEdit === null ? null : answerEdit(status, headers);
    if (plan === null) this.#begin();
    else this.#change(plan);
  }

  /** An answer whose head is as it will be sent. */
  #begin(): void {
    const length = bufferedLength(this.#call.method, this.#head.status, this.#head.headers);
    // A response that is too long to buffer, or for which there is no memory left, is streamed.
    if (length < 0 || !this.#runtime.bodies.hold(this.#call, this.#call.bufferedBytes + length)) this.#startStream();
    else {
      this.#state = 'buffering';
      if (this.#call.forwarding?.idleMs !== undefined) this.#timer.arm(this.#call.forwarding.idleMs);
      this.#held = new BufferedResponse(length);
    }
  }

  onData(bytes: Buffer): void {
    this.#received += bytes.length;
    if (this.#kept !== null && this.#state !== 'changing') this.#kept.takeResponse(bytes);
    switch (this.#state) {
      case 'changing':
        this.#changed?.data(bytes);
        break;
      case 'buffering':
        this.#held?.add(bytes);
        break;
      case 'discarding':
        if (this.#received <= DISCARDED_RESPONSE) break;
        this.#answer?.abort();
        this.#retryLater();
        break;
      case 'streaming':
        this.#timer.refresh();
        if (writeCopy(this.#call, bytes, this.#received === this.#head.length)) break;
        this.#answer?.pause();
        this.#waitForDrain();
        break;
    }
  }

  onEnd(): void {
    switch (this.#state) {
      case 'changing':
        this.#timer.spend(this.#call);
        this.#changed?.end();
        break;
      case 'buffering':
        this.#timer.spend(this.#call);
        this.#sendSoon();
        break;
      case 'discarding':
        this.#retryLater();
        break;
      case 'streaming':
        endAnswer(this.#call);
        this.#finish();
        break;
    }
  }

  onTrailers(trailers: HeaderList): void {
    noteTrailers(this.#call, trailers);
  }

  onUpgrade(headers: HeaderList, socket: Socket, first: Buffer): void {
    if (this.#state !== 'waiting') return void socket.destroy();
    // Others may have taken the last place while this one waited for its upstream.
    const unfit = refuseUpgrade(this.#call, this.#runtime);
    if (unfit) {
      socket.destroy();
      this.#refuse(unfit);
      return;
    }
    this.#timer.stop();
    this.#head = { status: 101, reason: '', headers };
    this.#state = 'upgraded';
    this.#writeHead('first-byte');
    const unwatch = this.#outcome.upgraded?.(
      openTunnel(this.#call, socket, first, () => {
        unwatch?.();
        this.#state = 'over';
        this.#outcome.over();
      }),
    );
  }

  onFault(fault: UpstreamFault): void {
    if (this.#state === 'over' || this.#state === 'upgraded') return;
    this.#call.upstreamFault = fault.type;
    if (this.#streams) {
      this.#breakStream(fault);
      return;
    }
    this.#timer.spend(this.#call);
    if (this.#state === 'discarding') this.#retryLater();
    else if (this.#state === 'waiting' && this.#retries.afterStaleConnection(fault)) this.#dispatch();
    else if (this.#state === 'waiting' && fault.type === 'upstream_unreachable' && this.#retries.afterFailure()) this.#retryLater();
    else {
      this.#call.errorDetail = causeOf(fault);
      const type = fault.type === 'aborted' ? 'upstream_unreachable' : fault.type;
      this.#refuse(refused(type, fault.message, { cause: fault }));
    }
  }

  #change(plan: AnswerPlan): void {
    if ('refuse' in plan) {
      this.#timer.spend(this.#call);
      this.#refuseAnswer(plan.refuse);
      return;
    }
    const held = this.#call.bufferedBytes;
    this.#state = 'changing';
    this.#changed = new ChangedAnswer(plan, {
      res: this.#call.res,
      kept: () => this.#kept,
      isOver: () => this.#state === 'over',
      mayHold: (bytes) => this.#runtime.bodies.hold(this.#call, held + bytes),
      pause: () => this.#answer?.pause(),
      resume: () => this.#answer?.resume(),
      pass: (headers) => {
        this.#head.headers = headers;
        this.#received = 0;
        this.#begin();
      },
      data: (bytes) => this.onData(bytes),
      end: () => this.onEnd(),
      writeHead: (headers, streams) => {
        this.#head.headers = headers;
        if (streams) this.#timer.arm(STREAM_IDLE_MS);
        this.#writeHead(streams ? 'first-byte' : 'complete');
      },
      touched: () => this.#timer.refresh(),
      finish: (bytes) => {
        this.#received = bytes ?? this.#received;
        this.#finish();
      },
      refuse: (refusal) => this.#refuseAnswer(refusal),
    });
    this.#changed.start();
  }

  /** Nothing of the upstream's answer is sent, or no more of it. */
  #refuseAnswer(refusal: Refused): void {
    if (this.#state === 'over') return;
    const call = this.#call;
    call.errorDetail = refusal.code;
    this.#answer?.abort();
    if (call.res.headersSent) {
      this.#endBroken(refusal.code);
      return;
    }
    call.upstreamStatus = this.#head.status;
    this.#refuse(refusal);
  }

  #sendSoon(): void {
    // Long ones that wait together would not stay in the processor's caches.
    if (!this.#held?.isShort) this.#sendBuffered();
    else {
      this.#timer.stop();
      afterReads(() => this.#sendIfAwaited());
    }
  }

  #sendIfAwaited(): void {
    if (this.#state !== 'buffering') return;
    try {
      this.#sendBuffered();
    } catch (error) {
      this.onFault(new UpstreamFault('internal_error', 'The upstream response could not be processed.', { cause: error }));
    }
  }

  #sendBuffered(): void {
    this.#writeHead('complete');
    this.#call.responseBytes = this.#received;
    this.#held?.send(this.#call);
    this.#finish();
  }

  #startStream(): void {
    this.#writeHead('first-byte');
    this.#state = 'streaming';
    this.#timer.arm(idleOf(this.#call, this.#head.headers));
    // A first chunk that came in the same packet goes out with the head; without one the head does not wait for it.
    process.nextTick(flush, this.#call);
  }

  #writeHead(phase: 'complete' | 'first-byte'): void {
    this.#timer.spend(this.#call);
    writeHead(this.#call, this.#head, phase, this.#kept);
  }

  #waitForDrain(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#call.res.once('drain', () => {
      this.#paused = false;
      this.#timer.refresh();
      this.#answer?.resume();
    });
  }

  /** The caller must see that the body is not whole, so the connection ends without the end of the message. */
  #breakStream(fault: UpstreamFault): void {
    this.#call.errorDetail = causeOf(fault);
    this.#endBroken('upstream_stream_failed');
  }

  #endBroken(error: string): void {
    const call = this.#call;
    call.error = error;
    this.#changed?.stop();
    call.responseBytes = this.#received;
    this.#state = 'over';
    this.#timer.stop();
    call.res.destroy();
    this.#outcome.over();
  }

  /** Part of the answer is with the caller. */
  get #streams(): boolean {
    return this.#state === 'streaming' || (this.#state === 'changing' && this.#call.res.headersSent);
  }

  #retryLater(): void {
    this.#timer.spend(this.#call);
    this.#received = 0;
    this.#state = 'waiting';
    setTimeout(() => {
      if (this.#state !== 'over') this.#dispatch();
    }, this.#retries.delay);
  }

  #timedOut(): void {
    if (this.#state === 'over') return;
    const fault = new UpstreamFault('upstream_timeout', `The host ${this.#call.upstream?.host} did not respond in time.`);
    this.#call.upstreamFault = fault.type;
    if (this.#streams) this.#breakStream(fault);
    else {
      if (this.#state !== 'discarding') this.#timer.spend(this.#call);
      this.#refuse(refused('upstream_timeout', fault.message));
    }
    this.#answer?.abort();
  }

  #bodyFailed(error: Error): void {
    if (this.#state === 'over') return;
    const refusal = refusalOf(error);
    if (this.#streams) this.#breakStream(new UpstreamFault('aborted', 'The transfer of the body was interrupted.', { cause: error }));
    else if (refusal) this.#refuse(refusal);
    else return; // the upstream failed, or the caller went away: both are told elsewhere
    this.#answer?.abort();
  }

  /** Who was admitted wouldn't be any more. */
  revoke(): void {
    if (this.#state === 'over') return;
    this.#call.errorDetail = 'grpc:revoked';
    this.#answer?.abort();
    if (this.#streams) this.#endBroken('forbidden');
    else this.#refuse(refused('forbidden', "What this call was admitted by doesn't hold any more."));
  }

  #callerClosed(): void {
    if (this.#state === 'over' || this.#state === 'upgraded') return;
    this.#timer.spend(this.#call);
    this.#state = 'over';
    this.#timer.stop();
    noteClosed(this.#call, this.#received);
    this.#answer?.abort();
    this.#relay?.stop();
    this.#changed?.stop();
    this.#outcome.over();
  }

  #refuse(refusal: Refused): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#timer.stop();
    this.#relay?.stop();
    this.#changed?.stop();
    this.#outcome.refuse(refusal);
  }

  #finish(): void {
    this.#state = 'over';
    this.#timer.stop();
    // An upstream may answer before it has the whole body: the rest isn't sent.
    this.#relay?.stop();
    this.#call.responseBytes = this.#received;
    freeBody(this.#call, this.#sent);
    this.#outcome.over();
  }
}
