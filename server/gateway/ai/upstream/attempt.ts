import { answersCrowded, classifyFault, UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { UpstreamCall, UpstreamHandler, UpstreamRequest } from '#server/platform/http-out/upstream-call.ts';
import type { Pool } from '#server/platform/http-out/upstream-pool.ts';
import type { AnswerFlow, ScrubbedHandler } from '../../core/answer-edit.ts';
import { CollectedAnswer } from './collected-answer.ts';

/** Takes the body of an answer. `data` lends its bytes; `end` or `fault` comes last, once. */
export type AnswerSink = { data(bytes: Buffer): void; end(): void; fault(fault: UpstreamFault): void };

/** What an answer passes before it is told of. */
type Scrubbing = (next: UpstreamHandler, sent: () => UpstreamCall | undefined) => ScrubbedHandler | undefined;

export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/**
 * One request to a provider and its answer. The head is awaited; then the body is either collected or given to a sink. It owns the timer: to the first byte,
 * then from one piece to the next. After `abort` nothing is told any more.
 */
export class Attempt implements UpstreamHandler {
  status = 0;
  headers: HeaderList = [];
  /** Bytes of the answer's body. */
  received = 0;
  /** Ends a wait for the whole body. */
  #giveUp: () => void = () => undefined;
  readonly #head = Promise.withResolvers<void>();
  readonly #host: string;
  readonly #idleMs: number;
  #sent: UpstreamCall | undefined;
  /** The answer on its way; of a call whose answer is scrubbed, what comes out of that. */
  #answer: AnswerFlow | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sink: AnswerSink | undefined;
  #pieces: Buffer[] = [];
  #state: 'waiting' | 'answering' | 'ended' | 'over' = 'waiting';
  #fault: UpstreamFault | undefined;
  /** Hears each piece before anything takes it, and the end as undefined. */
  #inspector: ((piece: Buffer | undefined) => void) | undefined;
  readonly #onBroken: (fault: UpstreamFault) => void;

  /** `onBroken` is called when an answer breaks off after its head. */
  constructor(host: string, firstByteMs: number, idleMs: number, onBroken: (fault: UpstreamFault) => void = () => undefined) {
    this.#host = host;
    this.#idleMs = idleMs;
    this.#onBroken = onBroken;
    this.#timer = setTimeout(() => this.#timedOut(), firstByteMs);
  }

  /** Sends the request; resolves when the head is there. @throws UpstreamFault */
  send(pool: Pool, request: UpstreamRequest, scrub: Scrubbing = () => undefined): Promise<void> {
    // Its caller went away before.
    if (this.#state === 'over') return this.#head.promise;
    const scrubbed = scrub(this, () => this.#sent);
    try {
      this.#sent = pool.send(request, scrubbed ?? this);
      this.#answer = scrubbed ?? this.#sent;
    } catch (error) {
      this.onFault(classifyFault(error, this.#host));
    }
    return this.#head.promise;
  }

  /** The whole body. @throws AnswerTooLarge beyond `most` bytes, or UpstreamFault, also when `mayHold` says no */
  collect(most: number, mayHold: (bytes: number) => boolean): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#giveUp = () => reject(givenUp());
      if (this.#state === 'over') return this.#giveUp();
      const collected = new CollectedAnswer();
      this.take({
        data: (piece) => {
          const bytes = collected.length + piece.length;
          if (bytes > most || !mayHold(bytes)) {
            // First: to abort rejects too.
            reject(bytes > most ? new AnswerTooLarge() : answersCrowded());
            this.abort();
            return;
          }
          collected.add(piece);
        },
        end: () => resolve(collected.whole()),
        fault: reject,
      });
    });
  }

  /** The whole body, as `collect`, which can be taken or collected once more. */
  async peek(most: number, mayHold: (bytes: number) => boolean): Promise<Buffer> {
    const bytes = await this.collect(most, mayHold);
    this.#sink = undefined;
    this.#pieces = [bytes];
    this.#state = 'ended';
    return bytes;
  }

  /** Shows the pieces that come, from the first, until `enough` is true of one or none come any more. They stay to be taken. */
  inspect(enough: (piece: Buffer) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const show = (piece: Buffer | undefined): boolean => {
        try {
          if (piece !== undefined && !enough(piece)) return false;
          resolve();
        } catch (error) {
          reject(error);
        }
        this.#inspector = undefined;
        return true;
      };
      if (this.#pieces.some(show)) return;
      if (this.#state === 'answering') this.#inspector = show;
      else resolve();
    });
  }

  /** Takes another answer for this one, whose stream is given up. */
  becomes(status: number, body: Buffer): void {
    this.#answer?.abort();
    clearTimeout(this.#timer);
    this.status = status;
    this.headers = ['content-type', 'application/json'];
    this.#pieces = [body];
    this.#fault = undefined;
    this.#state = 'ended';
  }

  /** Gives what has come and what will come to a sink. */
  take(sink: AnswerSink): void {
    this.#sink = sink;
    const pieces = this.#pieces;
    this.#pieces = [];
    for (const piece of pieces) sink.data(piece);
    if (this.#state === 'ended') {
      this.#state = 'over';
      if (this.#fault) sink.fault(this.#fault);
      else sink.end();
    }
  }

  pause(): void {
    clearTimeout(this.#timer);
    this.#answer?.pause();
  }

  resume(): void {
    this.#arm();
    this.#answer?.resume();
  }

  abort(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    clearTimeout(this.#timer);
    this.#answer?.abort();
    this.#inspector?.(undefined);
    // Nobody may be waiting for it any more.
    this.#head.promise.catch(() => undefined);
    this.#head.reject(givenUp());
    this.#giveUp();
  }

  /** Whether the provider may have seen the request, so that it may ask for money. */
  get reached(): boolean {
    return this.#sent?.carried === true;
  }

  /** What broke an answer off whose pieces nothing has taken yet. */
  get broken(): UpstreamFault | undefined {
    return this.#fault;
  }

  onHead(status: number, headers: HeaderList): void {
    this.status = status;
    this.headers = headers;
    this.#state = 'answering';
    this.#arm();
    this.#head.resolve();
  }

  onData(bytes: Buffer): void {
    if (this.#state !== 'answering') return;
    this.#timer?.refresh();
    this.received += bytes.length;
    // The bytes are lent.
    if (this.#sink) this.#sink.data(bytes);
    else {
      const piece = Buffer.from(bytes);
      this.#pieces.push(piece);
      this.#inspector?.(piece);
    }
  }

  onEnd(): void {
    this.#finish(undefined);
  }

  onFault(fault: UpstreamFault): void {
    if (this.#state === 'waiting') {
      this.#state = 'over';
      clearTimeout(this.#timer);
      this.#head.reject(fault);
    } else this.#finish(fault);
  }

  #finish(fault: UpstreamFault | undefined): void {
    if (this.#state !== 'answering') return;
    clearTimeout(this.#timer);
    if (fault) this.#onBroken(fault);
    this.#fault = fault;
    this.#state = this.#sink ? 'over' : 'ended';
    this.#inspector?.(undefined);
    if (!this.#sink) return;
    if (fault) this.#sink.fault(fault);
    else this.#sink.end();
  }

  #arm(): void {
    if (this.#state === 'ended' || this.#state === 'over') return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#timedOut(), this.#idleMs);
  }

  #timedOut(): void {
    const fault = new UpstreamFault('upstream_timeout', `The host ${this.#host} did not respond in time.`);
    this.#answer?.abort();
    this.onFault(fault);
  }
}

const givenUp = () => new UpstreamFault('aborted', 'The call was given up.');
