import type { TestContext } from 'node:test';

/** Stops the date of this process until the test ends: what fills a limit does it within one window, however busy the machine. Timers go on. */
export function stillClock(t: TestContext): void {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
}
