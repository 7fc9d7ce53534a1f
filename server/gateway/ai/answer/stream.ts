import type { AiCode } from '#server/ai/codes.ts';
import type { StreamGrammar } from '#server/ai/shapes/adapter.ts';
import type { Wire } from '#server/ai/stream/event.ts';
import { endStages, MalformedFrame, type StreamEvent, throughStages, type WaitingStage } from '#server/ai/stream/event.ts';
import { streamReader } from '#server/ai/stream/reader.ts';
import { ready, type Steps, taken, type Waits } from '#server/ai/stream/steps.ts';
import type { UsageMeter } from '#server/ai/stream/usage-meter.ts';
import { streamWriter } from '#server/ai/stream/writer.ts';
import { nextSlice, SLICE_MS } from '#server/kernel/slices.ts';
import type { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { log } from '#server/platform/log.ts';
import type { Runtime } from '../../core/runtime.ts';
import { ControlFailed } from '../../governance/controls/control-failed.ts';
import { watchStream } from '../../governance/watch.ts';
import type { AiCall } from '../ai-call.ts';
import type { AnswerSink, Attempt } from '../upstream/attempt.ts';
import type { CallerGone } from '../upstream/caller.ts';
import { answerHead } from './head.ts';
import type { Judged } from './judge.ts';

const SILENCE_MS = 15_000;
/** Bytes of a stream that is judged whole. */
const MOST_HELD = 16 * 1024 * 1024;
/** What an event takes beside its bytes. */
const EVENT_BYTES = 200;
/** Held events that are sent before the clock is looked at. */
const AT_ONCE = 64;

export type RelayPlan = {
  attempt: Attempt;
  /** How events lie in the provider's bytes, and in the caller's. */
  from: Exclude<Wire, 'json-list'>;
  to: Wire;
  meter: UsageMeter;
  /** What the events go through, in this order; made with the call's own controls. */
  stages: readonly WaitingStage[];
  secrets: readonly string[];
  grammar: StreamGrammar;
  /** Whether an event that the provider reports its own failure by is passed on as it is. */
  native: boolean;
  /** Judges the text of a stream that is held until its end; null: it leaves as it comes. */
  collected: ((text: string) => Promise<Judged>) | null;
  /** Bytes of the stream that something else than the relay keeps. */
  held: () => number;
};

/** `nothing`: the call can still be refused; a verdict: it was judged whole, and nothing of it was sent. */
export type Relayed = 'sent' | 'nothing' | Exclude<Judged, undefined>;

/**
 * Relays a stream event by event (interface rule 51 §7.4). The head goes out with the first event, so that a provider that fails before it is answered with its
 * status. Resolves when the answer is over.
 */
export function relay(call: AiCall, runtime: Runtime, caller: CallerGone, plan: RelayPlan): Promise<Relayed> {
  return new Promise((resolve) => {
    new Relay(call, runtime, caller, plan, resolve).start();
  });
}

class Relay implements AnswerSink {
  readonly #call: AiCall;
  readonly #plan: RelayPlan;
  readonly #caller: CallerGone;
  readonly #runtime: Runtime;
  readonly #resolve: (sent: Relayed) => void;
  readonly #reader;
  readonly #completed: ((event: StreamEvent) => StreamEvent) | undefined;
  readonly #writer;
  /** Steps of the answer that wait for a thread, in their order: nothing more is read meanwhile. */
  #waiting: Promise<void> | null = null;
  /** Why nothing is read: one for each of the caller, who is slow, and of the steps. */
  #pauses = 0;
  #draining = false;
  #over = false;
  #began = false;
  #failed = false;
  /** Events of a stream that is judged whole, and the text in them. */
  readonly #held: StreamEvent[] = [];
  #heldBytes = 0;
  /** Milliseconds of work since the last rest. */
  #spent = 0;
  #text = '';
  #unwatch: () => void = () => undefined;
  #silence: NodeJS.Timeout | undefined;

  constructor(call: AiCall, runtime: Runtime, caller: CallerGone, plan: RelayPlan, resolve: (sent: Relayed) => void) {
    this.#call = call;
    this.#plan = plan;
    this.#caller = caller;
    this.#runtime = runtime;
    this.#resolve = resolve;
    this.#reader = streamReader(plan.from);
    this.#writer = streamWriter(plan.to);
    this.#completed = plan.grammar.completed?.();
  }

  start(): void {
    const { principal, presented } = this.#call.state;
    if (principal)
      this.#unwatch = watchStream(this.#runtime, { principal, text: presented?.text ?? null, stop: (cause) => this.#fail(cause) });
    this.#caller.onEnd(() => (this.#caller.late ? this.#fail('upstream_timeout') : this.#end('client_closed')));
    this.#plan.attempt.take(this);
  }

  data(lent: Buffer): void {
    if (this.#over) return;
    // Events are views of these bytes, and stages may keep them.
    const bytes = Buffer.from(lent);
    this.#inOrder(() => taken(this.#read(bytes)));
  }

  end(): void {
    this.#inOrder(() => taken(this.#readLast()));
  }

  /** The events that these bytes complete, with rests: a few bytes make an event, so that many come at once. */
  *#read(bytes: Buffer): Steps<void> {
    const events = this.#reader.push(bytes)[Symbol.iterator]();
    for (;;) {
      const began = performance.now();
      const { done, value } = events.next();
      if (done || this.#over) break;
      if (value.length > 0) yield* ready(this.#pass(value));
      this.#spent += performance.now() - began;
      yield* this.#rest();
    }
    this.#count();
  }

  /** Others have their turn when this stream took a slice. */
  *#rest(): Steps<void> {
    if (this.#spent < SLICE_MS) return;
    yield* ready(nextSlice());
    this.#spent = 0;
  }

  *#readLast(): Steps<void> {
    if (this.#over) return;
    const last = this.#reader.end();
    if (last) yield* ready(this.#pass([last]));
    yield* ready(this.#last());
  }

  #last(): Waits<void> {
    if (this.#over) return;
    // A stream that ends before its last event was cut, and the caller must not take it for whole.
    if (!this.#plan.meter.complete() && !this.#failed) return this.#fail();
    return this.#plan.collected ? this.#judge(this.#plan.collected) : this.#finish();
  }

  #finish(): Waits<void> {
    const last = endStages(this.#plan.stages);
    return last instanceof Promise ? last.then((events) => this.#close(events)) : this.#close(last);
  }

  #close(last: readonly StreamEvent[]): void {
    if (this.#over) return;
    // The last event goes out with the end of the answer, which may be held.
    if (this.#began) this.#call.res.cork();
    this.#send(last);
    if (this.#began) this.#write(this.#writer.end());
    this.#end(this.#failed ? 'stream_failed' : 'ok');
  }

  /** The whole answer is here and nothing of it was sent: it can still be refused, with its status. */
  async #judge(collected: (text: string) => Promise<Judged>): Promise<void> {
    const verdict = await collected(this.#text);
    if (this.#over) return;
    if (verdict !== undefined) {
      this.#over = true;
      this.#unwatch();
      this.#resolve(verdict);
      return;
    }
    for (let from = 0; from < this.#held.length && !this.#over; from += AT_ONCE) {
      const began = performance.now();
      this.#send(await throughStages(this.#plan.stages, this.#held.slice(from, from + AT_ONCE)));
      this.#spent += performance.now() - began;
      await taken(this.#rest());
    }
    await this.#finish();
  }

  /** Takes a step after those that wait. */
  #inOrder(step: () => Waits<void>): void {
    let done: Waits<void>;
    try {
      done = this.#waiting === null ? step() : this.#waiting.then(step);
    } catch (error) {
      this.#broken(error);
      return;
    }
    if (!(done instanceof Promise)) return;
    if (this.#waiting === null) this.#pause();
    const settled = done
      .catch((error: unknown) => this.#broken(error))
      .then(() => {
        if (this.#waiting !== settled) return;
        this.#waiting = null;
        this.#goOn();
      });
    this.#waiting = settled;
  }

  #pause(): void {
    if (this.#pauses++ === 0) this.#plan.attempt.pause();
  }

  #goOn(): void {
    if (--this.#pauses === 0) this.#plan.attempt.resume();
  }

  fault(fault: UpstreamFault): void {
    if (this.#over) return;
    this.#call.errorDetail = fault.type;
    this.#inOrder(() => {
      // What came after the last event of a whole answer doesn't matter.
      if (this.#plan.meter.complete()) return taken(this.#readLast());
      this.#fail(fault.type === 'upstream_timeout' ? 'upstream_timeout' : undefined);
    });
  }

  #pass(events: readonly StreamEvent[]): Waits<void> {
    const { meter, stages, grammar, native } = this.#plan;
    for (const event of events) {
      this.#completed?.(event);
      meter.see(event);
      const told = grammar.failure(event);
      if (told !== undefined) {
        this.#failed = true;
        this.#call.state.outcome = 'stream_failed';
        if (!native) {
          this.#fail();
          return;
        }
      }
    }
    if (this.#plan.collected) for (const event of events) this.#hold(event);
    else if (stages.length === 0) this.#send(events);
    else {
      const passed = throughStages(stages, events);
      return passed instanceof Promise ? passed.then((last) => this.#send(last)) : this.#send(passed);
    }
  }

  /** What is kept of a stream counts like a body: beyond the workspace's share it ends. */
  #count(): void {
    const call = this.#call;
    const held = this.#reader.held() + this.#heldBytes + this.#plan.held();
    if (held > 0 && !this.#over && !this.#runtime.bodies.hold(call, call.requestBytes + held))
      throw new ControlFailed('concurrency_limited');
  }

  #hold(event: StreamEvent): void {
    this.#heldBytes += EVENT_BYTES + (event.raw?.length ?? 0);
    if (this.#heldBytes > MOST_HELD) throw new MalformedFrame('the answer is too long to be judged whole');
    for (const { kind, text } of this.#plan.grammar.deltas(event)) if (kind === 'text') this.#text += text;
    this.#held.push(event);
  }

  #send(events: readonly StreamEvent[]): void {
    if (events.length === 0 || this.#over) return;
    this.#begin();
    this.#write(this.#masked(this.#writer.bytes(events)));
  }

  /** A provider that streams its own credential back cuts its stream. */
  #masked(bytes: Buffer): Buffer {
    for (const secret of this.#plan.secrets)
      if (secret.length >= 8 && bytes.includes(secret)) throw new ControlFailed('upstream_invalid_response');
    return bytes;
  }

  #begin(): void {
    if (this.#began) return;
    this.#began = true;
    const call = this.#call;
    const { attempt, secrets } = this.#plan;
    call.origin = 'upstream';
    call.status = attempt.status;
    call.upstreamStatus = attempt.status;
    call.phase = 'first-byte';
    call.state.firstByteMs = Math.round(performance.now() - call.began);
    call.latencyMs = call.state.firstByteMs;
    call.res.begin(
      attempt.status,
      undefined,
      answerHead(call, { contentType: this.#writer.contentType, length: null, headers: attempt.headers }, secrets),
    );
    call.res.flushHeaders();
    this.#silence = setInterval(() => this.#keepAlive(), SILENCE_MS).unref();
  }

  #keepAlive(): void {
    const comment = this.#writer.comment('keep-alive');
    if (comment && !this.#over && !this.#call.res.writableNeedDrain) this.#call.res.write(comment);
  }

  #write(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const { res } = this.#call;
    this.#call.responseBytes += bytes.length;
    this.#silence?.refresh();
    if (res.write(bytes) || this.#over) return;
    // The caller is slow: nothing more is read until it has taken this.
    if (this.#draining) return;
    this.#draining = true;
    this.#pause();
    res.once('drain', () => {
      this.#draining = false;
      this.#goOn();
    });
  }

  #broken(error: unknown): void {
    const refused = error instanceof ControlFailed ? error.code : undefined;
    const malformed = error instanceof MalformedFrame ? 'upstream_invalid_response' : 'internal_error';
    if (refused === undefined && malformed === 'internal_error')
      log.error({ err: error, request_id: this.#call.requestId }, 'a streamed answer failed');
    this.#fail(refused ?? malformed);
  }

  /** Ends the stream with a frame that says so; nothing of what was held back is sent. Before the first event the call is refused instead. */
  #fail(cause?: AiCode): void {
    if (this.#over) return;
    const call = this.#call;
    call.state.cause = cause ?? 'upstream_stream_failed';
    call.state.outcome = 'stream_failed';
    if (this.#began) {
      const frame = {
        error: 'upstream_stream_failed',
        error_description: DESCRIPTIONS[cause ?? ''] ?? 'The provider connection ended before the answer was complete.',
        code: 'upstream_stream_failed',
        ...(cause === undefined ? {} : { cause }),
        request_id: call.requestId,
      };
      call.error = 'upstream_stream_failed';
      this.#write(this.#writer.failure(frame));
    }
    this.#plan.attempt.abort();
    this.#end('stream_failed');
  }

  #end(outcome: 'ok' | 'stream_failed' | 'client_closed'): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#silence);
    this.#unwatch();
    const call = this.#call;
    call.state.outcome ??= outcome;
    if (outcome === 'client_closed') {
      call.error = 'client_closed';
      this.#plan.attempt.abort();
    } else if (this.#began) call.res.end();
    this.#resolve(this.#began || outcome === 'client_closed' ? 'sent' : 'nothing');
  }
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  agent_not_active: 'The agent was paused or archived while this answer was streamed.',
  gateway_not_active: 'The AI gateway was paused or archived while this answer was streamed.',
  revoked: 'The token was revoked while this answer was streamed.',
  tenant_unavailable: "This workspace can't be served any more.",
  upstream_timeout: 'The provider sent nothing for too long.',
  upstream_invalid_response: 'The provider sent something that could not be read.',
  canary_leak: 'The answer contained a canary, so the rest of it was withheld.',
  concurrency_limited: 'Too much of answers is held in memory. Try again shortly.',
  pii_unavailable: 'Personal data in the answer could not be checked.',
  internal_error: 'Something went wrong on our side.',
};
