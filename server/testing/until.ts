import { setTimeout as sleep } from 'node:timers/promises';

/** So long that only a fault exceeds it, also on a busy machine. */
const LIMIT_MS = 60_000;

/** Waits for the condition and returns its first truthy value. `limitMs` is for what takes longer by itself, such as starting processes. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string = String(condition),
  limitMs = LIMIT_MS,
): Promise<Exclude<T, false | undefined | null | 0 | ''>> {
  for (const end = performance.now() + limitMs; ; await sleep(5)) {
    const value = await condition();
    if (value) return value as Exclude<T, false | undefined | null | 0 | ''>;
    if (performance.now() > end) throw new Error(`not so within ${limitMs / 1_000} s: ${what}`);
  }
}

/** So many looks in a row, a turn of the event loop or more apart, find a value that has settled unchanged. */
const STEADY_LOOKS = 30;

/** Waits until the value no longer changes, and returns it: for work of this process that must stop by itself. */
export async function untilSteady<T>(value: () => T): Promise<T> {
  let last = value();
  for (let looks = 0; looks < STEADY_LOOKS; looks++) {
    await sleep(5);
    const now = value();
    if (now !== last) looks = -1;
    last = now;
  }
  return last;
}
