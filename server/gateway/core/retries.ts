import { randomBuffer } from '#server/crypto/random.ts';
import type { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { Call } from './call.ts';
import { isIdempotent } from './methods.ts';

/** So much of an answer is read away before its call is sent again. */
export const DISCARDED_RESPONSE = 64 * 1024;
const LONGEST_RETRY_AFTER_MS = 2_000;
const REPEATED_BODY = 1024 * 1024;

/**
 * Whether a call may be sent again, and when (interface rule 12 §10): only what is safe to send twice, only a body that is still whole, and
 * only as long as the route's time allows. Every yes uses up one of the route's attempts.
 */
export class Retries {
  readonly #call: Call;
  readonly #deadline: number;
  #taken = 0;
  #staleTaken = false;
  /** Milliseconds to wait before the retry that was allowed last. */
  delay = 0;

  constructor(call: Call) {
    this.#call = call;
    this.#deadline = performance.now() + (call.forwarding?.timeoutMs ?? 30_000);
  }

  /**
   * The upstream closed a kept connection while the call was on its way, or has said that it did nothing with it: once, at once, and not one of the route's
   * attempts.
   */
  afterStaleConnection({ reused, unprocessed }: UpstreamFault): boolean {
    if (!reused && !unprocessed) return false;
    if (this.#staleTaken || this.#call.forwarding?.sendsOnce || !this.#repeatable()) return false;
    if (!unprocessed && !isIdempotent(this.#call.method)) return false;
    this.#staleTaken = true;
    return true;
  }

  afterFailure(): boolean {
    return this.#take(this.#backoff());
  }

  /** `retryAfter` is the upstream's own header, heeded when it is short. */
  afterStatus(status: number, retryAfter: string | string[] | undefined): boolean {
    if (status !== 502 && status !== 503 && status !== 504) return false;
    const wanted = Number(retryAfter ?? Number.NaN) * 1000;
    return this.#take(wanted >= 0 && wanted <= LONGEST_RETRY_AFTER_MS ? wanted : this.#backoff());
  }

  #take(delay: number): boolean {
    const { forwarding, method, idempotencyKey } = this.#call;
    if (this.#taken >= (forwarding?.retryAttempts ?? 0) || !this.#repeatable()) return false;
    if (!isIdempotent(method) && !idempotencyKey) return false;
    if (performance.now() + delay >= this.#deadline) return false;
    this.#taken += 1;
    this.delay = delay;
    return true;
  }

  #repeatable(): boolean {
    return !this.#call.streamsBody && this.#call.bodyPieces === null && (this.#call.body?.length ?? 0) <= REPEATED_BODY;
  }

  /** Doubling, with up to half of it taken off at random. */
  #backoff(): number {
    const delay = 100 * 2 ** this.#taken;
    return delay - (randomBuffer(1).readUInt8() / 256) * (delay / 2);
  }
}
