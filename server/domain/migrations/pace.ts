import { setTimeout } from 'node:timers/promises';
import { ProviderFault } from './providers/provider.ts';

/** Runs a provider call when its turn has come, again with growing pauses while the store limits calls. */
export type CallPace = <T>(call: () => Promise<T>) => Promise<T>;

const MOST_TRIES = 6;
const FIRST_PAUSE_MS = 500;

/** At most `rate` calls a second, one at a time. */
export function paced(rate: number, signal: AbortSignal): CallPace {
  const gap = 1_000 / rate;
  let next = 0;
  const turn = async () => {
    const wait = next - performance.now();
    next = Math.max(next, performance.now()) + gap;
    if (wait > 1) await setTimeout(wait, undefined, { signal });
  };
  return async (call) => {
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted();
      await turn();
      try {
        return await call();
      } catch (error) {
        const limited = error instanceof ProviderFault && error.reason === 'throttled';
        if (!limited || tries === MOST_TRIES) throw error;
        await setTimeout(FIRST_PAUSE_MS * 2 ** (tries - 1), undefined, { signal });
      }
    }
  };
}
