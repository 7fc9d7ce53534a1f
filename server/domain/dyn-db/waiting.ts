import { setTimeout as sleep } from 'node:timers/promises';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';

/** How long a call waits for another that works on the same lease or admin password. That takes tenths of a second, unless the database is slow or the process died. */
export const MOST_WAIT_MS = 10_000;
const PAUSE_MS = 100;

/**
 * Repeats an attempt while it is refused because another call is at it: a conflict that says when to try again. An attempt changes nothing before it has the
 * lease or password to itself. In a transaction of the caller, which would hold up others, nothing waits.
 */
export async function whenFree<T>(ctx: Ctx, attempt: () => Promise<T>): Promise<T> {
  const until = performance.now() + MOST_WAIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const busy = error instanceof Refusal && error.type === 'conflict' && error.retryAfter !== undefined;
      if (!busy || ctx.tx || performance.now() + PAUSE_MS > until) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
