import { expect, type Page } from '@playwright/test';
import { SETTLE_MS } from '#components/ui/use-settled.ts';

/** The timer after which a page fetches what may be needed next never ends: what has come by then is the page itself. */
export const neverSettles = (page: Page) =>
  page.addInitScript((settle) => {
    const setTimer = window.setTimeout.bind(window);
    window.setTimeout = ((run: TimerHandler, ms?: number, ...rest: unknown[]) =>
      ms === settle ? 0 : setTimer(run, ms, ...rest)) as typeof window.setTimeout;
  }, SETTLE_MS);

/** The page has a heading and asks for nothing more. */
export async function loaded(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
  // A page that asks again and again, as a live view does, is never idle: what it needs to begin has come by then.
  await page.waitForLoadState('networkidle', { timeout: 15_000 }).catch(() => undefined);
}

/** Bytes of script the page has asked for, as they came over the wire, compressed, without their heads; what the browser kept of another page counts. */
export const scriptBytes = (page: Page): Promise<number> =>
  page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  );

export const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`;
