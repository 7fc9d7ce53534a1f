import { type BrowserContext, expect, type Page, type Request } from '@playwright/test';
import { SETTLE_MS } from '#components/ui/use-settled.ts';

/** The timer after which a page fetches what may be needed next never ends: what has come by then is the page itself. */
export const neverSettles = (page: Page) =>
  page.addInitScript((settle) => {
    const setTimer = window.setTimeout.bind(window);
    window.setTimeout = ((run: TimerHandler, ms?: number, ...rest: unknown[]) =>
      ms === settle ? 0 : setTimer(run, ms, ...rest)) as typeof window.setTimeout;
  }, SETTLE_MS);

type Asked = { open: Set<Request>; changed: number };
const asked = new WeakMap<Page, Asked>();

/** A tab whose requests `loaded` can wait for. */
export async function newTab(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  const its: Asked = { open: new Set(), changed: 0 };
  asked.set(page, its);
  const change = (work: (open: Set<Request>) => unknown) => {
    work(its.open);
    its.changed = performance.now();
  };
  page.on('request', (request) => change((open) => open.add(request)));
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => change((open) => open.delete(request)));
  // A live view's stream never ends: what it needs to begin has come with its head.
  page.on('response', (response) => {
    if (response.headers()['content-type']?.startsWith('text/event-stream')) change((open) => open.delete(response.request()));
  });
  return page;
}

/** What an answer makes a page ask for, it asks for within this long. */
const QUIET_MS = 500;

/** The page has a heading and asks for nothing more. */
export async function loaded(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
  const its = asked.get(page);
  if (!its) throw new Error('This tab was not opened by newTab().');
  const underWay = () => (performance.now() - its.changed < QUIET_MS ? ['something, a moment ago'] : [...its.open].map((one) => one.url()));
  await expect.poll(underWay, { intervals: [100] }).toEqual([]);
}

/** Bytes of script the page has asked for, as they came over the wire, compressed, without their heads; what the browser kept of another page counts. */
export const scriptBytes = (page: Page): Promise<number> =>
  page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  );

export const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`;
