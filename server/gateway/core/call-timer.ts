import type { Call } from './call.ts';

/** The waits of one call, one at a time, and the end of all waiting; and how long it waited for its upstream. */
export class CallTimer {
  readonly #late: () => void;
  #wait: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;

  #dispatchedAt = 0;
  #spentMs = 0;

  constructor(late: () => void) {
    this.#late = late;
  }

  /** Waits so long from now on, in milliseconds, instead of as long as before. */
  arm(ms: number): void {
    clearTimeout(this.#wait);
    this.#wait = setTimeout(this.#late, ms);
  }

  /** The wait begins anew. */
  refresh(): void {
    this.#wait?.refresh();
  }

  /** Whatever happens, no longer than that; null: no such end. */
  deadline(ms: number | null): void {
    if (ms !== null) this.#end = setTimeout(this.#late, ms);
  }

  stop(): void {
    clearTimeout(this.#wait);
    if (this.#end !== undefined) clearTimeout(this.#end);
  }

  dispatched(): void {
    this.#dispatchedAt = performance.now();
  }

  /** Adds the time since the last dispatch to the time spent waiting for the upstream. */
  spend(call: Call): void {
    if (this.#dispatchedAt === 0) return;
    this.#spentMs += performance.now() - this.#dispatchedAt;
    this.#dispatchedAt = 0;
    call.upstreamSpent = this.#spentMs;
    call.upstreamMs = Math.round(this.#spentMs);
  }
}
