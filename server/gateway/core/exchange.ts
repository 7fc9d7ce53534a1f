import { freeBytes } from '#server/platform/free-bytes.ts';
import { classifyFault, UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { OriginPool } from '#server/platform/http-out/origin-pool.ts';
import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { UpstreamCall, UpstreamHandler } from '#server/platform/http-out/upstream-call.ts';
import { BufferedResponse, writeCopy } from './buffered-response.ts';
import type { Call } from './call.ts';
import type { Capture } from './capture.ts';
import { afterReads } from './event-loop-turn.ts';
import { acceptBody } from './listener.ts';
import { type Refused, refused } from './refusal.ts';
import { BodyRelay, BodyStalled, BodyTooLarge, STREAMED_LIMIT } from './request-body.ts';
import { Retries } from './retries.ts';
import type { Runtime } from './runtime.ts';
import { upstreamHeaders } from './upstream-headers.ts';
import { bufferedLength, fieldOf, isEventStream, namesOf, responseHead } from './upstream-response.ts';

const STREAM_IDLE_MS = 60_000;
const EVENTS_IDLE_MS = 300_000;
/** A phrase that node writes as it is; others get the usual one. */
const REASON = /^[\t\x20-\x7e]+$/;
const DISCARDED_RESPONSE = 64 * 1024;

/** Called once when the exchange has ended: with a refusal to answer, or after the response was written. */
export type Outcome = { refuse(refusal: Refused): void; over(): void };

/**
 * Steps 12 and 13: one call to its upstream and back (interface rules 12 §10, §11, §13). It owns the upstream request, its timer and the
 * right to write to the caller; whatever happens, exactly one outcome is told.
 */
export class Exchange implements UpstreamHandler {
  readonly #call: Call;
  readonly #runtime: Runtime;
  readonly #outcome: Outcome;
  readonly #headers: string[];
  readonly #retries: Retries;
  #sent: UpstreamCall | undefined;
  #relay: BodyRelay | undefined;
  #timer: NodeJS.Timeout | undefined;
  #state: 'waiting' | 'buffering' | 'discarding' | 'streaming' | 'over' = 'waiting';
  #dispatchedAt = 0;
  #spentMs = 0;
  /** An answer that is awaited whole. */
  #held: BufferedResponse | undefined;
  #received = 0;
  #status = 0;
  #reason = '';
  #responseHeaders: HeaderList = [];
  #paused = false;
  /** Keeps what of the answer passes by; null for most calls. */
  #kept: Capture | null = null;

  constructor(call: Call, runtime: Runtime, outcome: Outcome) {
    this.#call = call;
    this.#runtime = runtime;
    this.#outcome = outcome;
    this.#headers = upstreamHeaders(call, runtime.privateHeaders);
    this.#retries = new Retries(call);
  }

  start(): void {
    const { req, res } = this.#call;
    res.on('close', () => this.#callerClosed());
    if (this.#call.streamsBody) {
      acceptBody(req, res);
      this.#relay = new BodyRelay(req, STREAMED_LIMIT, (error) => this.#bodyFailed(error), this.#call.capture);
    }
    this.#arm(this.#call.forwarding?.timeoutMs ?? 30_000);
    this.#dispatch();
  }

  #dispatch() {
    const call = this.#call;
    const target = call.upstream;
    if (!target) return this.#refuse(refused('internal_error', 'The call has no target.'));
    this.#state = 'waiting';
    this.#dispatchedAt = performance.now();
    call.attempts++;
    const body = this.#relay ? { source: this.#relay, length: call.contentLength < 0 ? null : call.contentLength } : call.body;
    try {
      this.#sent = this.#pool(target).send({ path: call.upstreamPath, method: call.method, headers: this.#headers, body }, this);
    } catch (error) {
      this.onFault(classifyFault(error, target.host));
    }
  }

  #pool({ scheme, host, port }: NonNullable<Call['upstream']>): OriginPool {
    const { snapshot, echo } = this.#call;
    if (!echo) return this.#runtime.pools.get({ tenant: snapshot.tenant.id, space: snapshot.space, scheme, host, port });
    if (!this.#runtime.echo) throw new UpstreamFault('upstream_unreachable', 'The echo upstream is not running.', { phase: 'connect' });
    return this.#runtime.echo;
  }

  // --- what becomes of the request ---------------------------------------------------------------------------------------------------

  onHead(status: number, headers: HeaderList, reason: string): void {
    this.#status = status;
    this.#reason = reason;
    this.#responseHeaders = headers;
    if (this.#retries.afterStatus(status, fieldOf(headers, 'retry-after'))) {
      this.#state = 'discarding';
      return;
    }
    const { capture } = this.#call;
    if (capture?.wants(status)) this.#kept = capture;
    const length = bufferedLength(this.#call.method, status, headers);
    // A response that is too long to buffer, or for which there is no memory left, is streamed.
    if (length < 0 || !this.#runtime.bodies.hold(this.#call, this.#call.bufferedBytes + length)) this.#startStream();
    else {
      this.#state = 'buffering';
      this.#held = new BufferedResponse(length);
    }
  }

  onData(bytes: Buffer): void {
    this.#received += bytes.length;
    if (this.#kept !== null) this.#kept.takeResponse(bytes);
    switch (this.#state) {
      case 'buffering':
        this.#held?.add(bytes);
        break;
      case 'discarding':
        if (this.#received <= DISCARDED_RESPONSE) break;
        this.#sent?.abort();
        this.#spend();
        this.#retryLater();
        break;
      case 'streaming':
        this.#timer?.refresh();
        if (writeCopy(this.#call, bytes)) break;
        this.#sent?.pause();
        this.#waitForDrain();
        break;
    }
  }

  onEnd(): void {
    switch (this.#state) {
      case 'buffering':
        this.#spend();
        this.#sendSoon();
        break;
      case 'discarding':
        this.#spend();
        this.#retryLater();
        break;
      case 'streaming':
        this.#call.res.end();
        this.#finish();
        break;
    }
  }

  onFault(fault: UpstreamFault): void {
    if (this.#state === 'over') return;
    if (this.#state === 'streaming') {
      this.#breakStream(fault);
      return;
    }
    this.#spend();
    if (this.#state === 'discarding') this.#retryLater();
    else if (this.#state === 'waiting' && fault.reused && this.#retries.afterStaleConnection()) this.#dispatch();
    else if (this.#state === 'waiting' && fault.type === 'upstream_unreachable' && this.#retries.afterFailure()) this.#retryLater();
    else {
      this.#call.errorDetail = causeOf(fault);
      const type = fault.type === 'aborted' ? 'upstream_unreachable' : fault.type;
      this.#refuse(refused(type, fault.message, { cause: fault }));
    }
  }

  // --- towards the caller ----------------------------------------------------------------------------------------------------------

  #sendSoon(): void {
    // Long ones that wait together would not stay in the processor's caches.
    if (!this.#held?.isShort) this.#sendBuffered();
    else {
      clearTimeout(this.#timer);
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
    this.#spend();
    this.#writeHead('first-byte');
    this.#state = 'streaming';
    this.#arm(isEventStream(this.#responseHeaders) ? EVENTS_IDLE_MS : STREAM_IDLE_MS);
    // A first chunk that came in the same packet goes out with the head; without one the head does not wait for it.
    process.nextTick(flush, this.#call);
  }

  /** The caller's head: the upstream's, and our block. */
  #writeHead(phase: 'complete' | 'first-byte'): void {
    const call = this.#call;
    call.origin = 'upstream';
    call.status = this.#status;
    call.upstreamStatus = this.#status;
    call.upstreamMs = Math.round(this.#spentMs);
    call.phase = phase;
    call.responseHeaders = namesOf(this.#responseHeaders);
    const reason = REASON.test(this.#reason) ? this.#reason : undefined;
    const head = responseHead(call, this.#responseHeaders);
    if (this.#kept !== null) this.#kept.head = head;
    call.res.begin(this.#status, reason, head);
  }

  #waitForDrain(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#call.res.once('drain', () => {
      this.#paused = false;
      this.#timer?.refresh();
      this.#sent?.resume();
    });
  }

  /** The caller must see that the body is not whole, so the connection ends without the end of the message. */
  #breakStream(fault: UpstreamFault): void {
    const { call } = this;
    call.error = 'upstream_stream_failed';
    call.errorDetail = causeOf(fault);
    call.responseBytes = this.#received;
    this.#state = 'over';
    clearTimeout(this.#timer);
    call.res.destroy();
    this.#outcome.over();
  }

  get call(): Call {
    return this.#call;
  }

  #retryLater(): void {
    this.#received = 0;
    this.#state = 'waiting';
    setTimeout(() => {
      if (this.#state !== 'over') this.#dispatch();
    }, this.#retries.delay);
  }

  // --- ends ------------------------------------------------------------------------------------------------------------------------

  #arm(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#timedOut(), ms);
  }

  #timedOut(): void {
    if (this.#state === 'over') return;
    const fault = new UpstreamFault('upstream_timeout', `The host ${this.#call.upstream?.host} did not respond in time.`);
    if (this.#state === 'streaming') this.#breakStream(fault);
    else {
      if (this.#state !== 'discarding') this.#spend();
      this.#refuse(refused('upstream_timeout', fault.message));
    }
    this.#sent?.abort();
  }

  #bodyFailed(error: Error): void {
    if (this.#state === 'over') return;
    if (this.#state === 'streaming')
      this.#breakStream(new UpstreamFault('aborted', 'The transfer of the body was interrupted.', { cause: error }));
    else if (error instanceof BodyTooLarge) this.#refuse(refused('payload_too_large', 'The request body must not exceed 100 MiB.'));
    else if (error instanceof BodyStalled) this.#refuse(refused('invalid_request', "The request body wasn't fully received."));
    else return; // the upstream failed, or the caller went away: both are told elsewhere
    this.#sent?.abort();
  }

  #callerClosed(): void {
    if (this.#state === 'over') return;
    this.#spend();
    this.#state = 'over';
    clearTimeout(this.#timer);
    this.#call.error = 'client_closed';
    this.#call.status = 0;
    this.#call.responseBytes = this.#received;
    this.#sent?.abort();
    this.#relay?.stop();
    this.#outcome.over();
  }

  #refuse(refusal: Refused): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    clearTimeout(this.#timer);
    this.#relay?.stop();
    this.#outcome.refuse(refusal);
  }

  #finish(): void {
    this.#state = 'over';
    clearTimeout(this.#timer);
    // An upstream may answer before it has the whole body: the rest isn't sent.
    this.#relay?.stop();
    this.#call.responseBytes = this.#received;
    this.#freeBody();
    this.#outcome.over();
  }

  /** Of several attempts one may have ended in the middle of sending it, and a test request shows it. */
  #freeBody(): void {
    const { body, attempts, test } = this.#call;
    if (body && attempts === 1 && !test && this.#sent?.bodySent) freeBytes(body);
  }

  /** Adds the time since the last dispatch to the time spent waiting for the upstream. */
  #spend(): void {
    if (this.#dispatchedAt === 0) return;
    this.#spentMs += performance.now() - this.#dispatchedAt;
    this.#dispatchedAt = 0;
    this.#call.upstreamMs = Math.round(this.#spentMs);
  }
}

function flush({ res }: Call): void {
  if (!res.writableEnded && !res.destroyed) res.flushHeaders();
}

/** The error's code for the log, e.g. ECONNREFUSED; addresses stay out of it. */
function causeOf(fault: UpstreamFault): string {
  const cause = fault.cause as NodeJS.ErrnoException | undefined;
  return [fault.phase, cause?.code ?? cause?.name ?? fault.type].join(':');
}
