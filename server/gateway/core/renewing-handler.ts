import type { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { UpstreamCall, UpstreamHandler } from '#server/platform/http-out/upstream-call.ts';
import type { Call } from './call.ts';

export type Sending = {
  sent: () => UpstreamCall | undefined;
  /** Called in place of whatever else would be told. */
  resend: () => void;
};

/** Who is told of an answer: once in a call, and only while its body can be sent again, a 401 is met with a new token. */
export function renewing(
  call: Pick<Call, 'renew' | 'streamsBody' | 'bodyPieces'>,
  next: UpstreamHandler,
  exchange: Sending,
): UpstreamHandler {
  const { renew } = call;
  if (renew === null || call.streamsBody || call.bodyPieces !== null) return next;
  call.renew = null;
  return new RenewingHandler(next, renew, exchange);
}

/** The first attempt of a call with an access token that can be renewed: a 401 waits for the new token, and shows only if there is none. */
class RenewingHandler implements UpstreamHandler {
  readonly #next: UpstreamHandler;
  readonly #renew: () => Promise<boolean>;
  readonly #exchange: Sending;
  /** Of an answer that waits, in order. */
  #held: (() => void)[] | undefined;

  constructor(next: UpstreamHandler, renew: () => Promise<boolean>, exchange: Sending) {
    this.#next = next;
    this.#renew = renew;
    this.#exchange = exchange;
  }

  onHead(status: number, headers: HeaderList, reason: string): void {
    if (status !== 401) {
      this.#next.onHead(status, headers, reason);
      return;
    }
    this.#held = [() => this.#next.onHead(status, headers, reason)];
    this.#exchange.sent()?.pause();
    this.#renew().then(
      (renewed) => (renewed ? this.#again() : this.#goOn()),
      () => this.#goOn(),
    );
  }

  onData(bytes: Buffer): void {
    if (!this.#held) {
      this.#next.onData(bytes);
      return;
    }
    // What was read before the pause; it is lent.
    const own = Buffer.from(bytes);
    this.#held.push(() => this.#next.onData(own));
  }

  onTrailers(trailers: HeaderList): void {
    if (this.#held) this.#held.push(() => this.#next.onTrailers?.(trailers));
    else this.#next.onTrailers?.(trailers);
  }

  onEnd(): void {
    if (this.#held) this.#held.push(() => this.#next.onEnd());
    else this.#next.onEnd();
  }

  onUpgrade(...upgraded: Parameters<NonNullable<UpstreamHandler['onUpgrade']>>): void {
    this.#next.onUpgrade?.(...upgraded);
  }

  onFault(fault: UpstreamFault): void {
    if (this.#held) this.#held.push(() => this.#next.onFault(fault));
    else this.#next.onFault(fault);
  }

  #again(): void {
    this.#held = [];
    this.#exchange.sent()?.abort();
    this.#exchange.resend();
  }

  #goOn(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const tell of held) tell();
    this.#exchange.sent()?.resume();
  }
}
