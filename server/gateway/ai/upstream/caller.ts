import type { GatewayResponse } from '../../core/gateway-response.ts';
import type { Attempt } from './attempt.ts';

const WHOLE_CALL_MS = 15 * 60_000;

/** The caller's side of a call: when it goes, or the call's time is over, whatever runs for it ends. */
export class CallerGone {
  gone = false;
  /** The call took longer than any may. */
  late = false;
  readonly #res: GatewayResponse;
  readonly #closed = () => this.#end(false);
  readonly #timer = setTimeout(() => this.#end(true), WHOLE_CALL_MS);
  #attempt: Attempt | undefined;
  #listeners: (() => void)[] = [];

  constructor(res: GatewayResponse) {
    this.#res = res;
    this.gone = res.destroyed;
    res.on('close', this.#closed);
  }

  /** The attempt that is given up with the caller. */
  aborts(attempt: Attempt): void {
    this.#attempt = attempt;
    if (this.gone) attempt.abort();
  }

  onEnd(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Waits, no longer than the caller does. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.onEnd(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** The call is over. */
  release(): void {
    clearTimeout(this.#timer);
    this.#res.off('close', this.#closed);
    this.#listeners = [];
  }

  #end(late: boolean): void {
    if (this.gone || this.#res.writableEnded || this.#res.isHeld) return;
    this.gone = true;
    this.late = late;
    this.#attempt?.abort();
    for (const listener of this.#listeners) listener();
  }
}
