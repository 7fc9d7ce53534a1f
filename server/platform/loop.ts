import { log } from './log.ts';

export type Loop = { /** Runs again now instead of at the next tick. */ wake(): void; stop(): Promise<void> };

const LONGEST_PAUSE_MS = 30_000;

/**
 * Runs `work` at once and then again `pauseMs` after each run, until stopped; right away while it resolves to true ("there is more"). A failure is
 * logged and doubles the pause, up to 30 s.
 */
export function startLoop(name: string, pauseMs: number, work: (signal: AbortSignal) => Promise<boolean>): Loop {
  const stopping = new AbortController();
  let woken = false;
  let endPause = () => {};
  const run = async () => {
    for (let pause = pauseMs; !stopping.signal.aborted; ) {
      let more = false;
      try {
        more = await work(stopping.signal);
        pause = pauseMs;
      } catch (error) {
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
        if (!stopping.signal.aborted) log.warn({ err: error, retry_in_ms: pause }, `${name} failed`);
      }
      // A call of `wake` during the run counts too: what it is about may have come too late for that run.
      if (more || woken || stopping.signal.aborted) {
        woken = false;
        continue;
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
        endPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      woken = false;
    }
  };
  const wake = () => {
    woken = true;
    endPause();
  };
  const ended = run();
  return {
    wake,
    async stop() {
      stopping.abort();
      wake();
      await ended;
    },
  };
}
