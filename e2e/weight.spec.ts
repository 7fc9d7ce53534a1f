import { type BrowserContext, expect, type Page, test } from '@playwright/test';
import { SETTLE_MS } from '#components/ui/settled.ts';
import { signIn } from './person.ts';
import { json, operator, setting } from './running-system.ts';

/** What the scripts of a page weigh as the browser gets them, before anybody asked for more (70 §1). */
const FIRST_LOAD = 220 * 1024;
const FURTHER_PAGE = 60 * 1024;

const person = { email: 'weights@example.com', password: 'a pound is sixteen ounces' };
const slug = 'weights';
const ids: Record<string, string> = {};
/** Playwright prepares once more after a test that failed. */
const run = Date.now();

test.beforeAll(async () => {
  await operator(['create-tenant', '--slug', slug, '--plan', 'pro', '--owner-email', person.email, '--owner-password', person.password]);
  const { api_key: key = '' } = await operator(['create-key', '--slug', slug, '--space', 'test', '--role', 'Key - Infrastructure']);
  const api = `${setting('E2E_SANDBOX_API_URL')}/v1`;
  const bodies = {
    clients: { name: 'Partner', ip_address: '192.0.2.7' },
    collections: { name: `Partner ${run}` },
    secrets: { name: `PARTNER_KEY_${run}`, value: 'a value' },
  };
  for (const [family, body] of Object.entries(bodies)) {
    const made = await json(`${api}/${family}`, { key, body });
    expect(made.status, made.text).toBe(201);
    ids[family] = (JSON.parse(made.text) as { data: { id: string } }).data.id;
  }
  // Home shows the way to the first call until there was one.
  const proxy = `http://localhost:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}`;
  expect((await json(`${proxy}/echo/hello`, { headers: { 'x-svc-key': key } })).status).toBe(200);
});

test('no page brings more than 220 KB of scripts before something on it is asked for', async ({ browser }) => {
  test.setTimeout(240_000);
  const space = `/${slug}/test`;
  const lists = ['', '/routes', '/collections', '/clients', '/environments', '/environments/compare', '/import', '/secrets', '/logs'];
  const others = ['/audit', '/api-keys', '/explorer', '/quickstart', '/promote', '/nowhere'];
  const details = ['/routes/echo', ...['clients', 'collections', 'secrets'].map((family) => `/${family}/${ids[family]}`)];
  const settings = ['workspace', 'roles', 'usage', 'versions', 'keys'].map((page) => `/${slug}/settings/${page}`);
  const own = ['profile', 'security', 'sessions', 'preferences'].map((page) => `/me/${page}`);
  const paths = [...[...lists, ...others, ...details].map((path) => space + path), `/${slug}/live`, ...settings, ...own];
  const weights = new Map<string, number>();
  const weigh = async (context: BrowserContext, all: readonly string[]) => {
    // Three tabs: each waits half a second of every page for the network to be still.
    const waiting = all.values();
    await Promise.all(
      [1, 2, 3].map(async () => {
        const page = await context.newPage();
        await neverSettles(page);
        for (const path of waiting) weights.set(path, await weightOf(page, path));
      }),
    );
  };
  const context = await browser.newContext();
  await weigh(context, ['/signin', '/signup', '/forgot']);
  const page = await context.newPage();
  await signIn(page, person, slug);
  await page.close();
  await weigh(context, paths);
  await context.close();
  expect(weights.size).toBe(paths.length + 3);
  const told = [...weights].map(([path, bytes]) => `${path}: ${kilobytes(bytes)}`).join('\n');
  test.info().annotations.push({ type: 'weights', description: told });
  expect(
    [...weights].filter(([, bytes]) => bytes > FIRST_LOAD).map(([path, bytes]) => `${path}: ${kilobytes(bytes)}`),
    told,
  ).toEqual([]);
});

test('the way from one page to the next brings no more than 60 KB of scripts', async ({ page }) => {
  test.setTimeout(120_000);
  await neverSettles(page);
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test`);
  await loaded(page);
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  const before = new Map<string, number>();
  for (const name of (await links.allInnerTexts()).filter((name) => name !== 'Home')) {
    const had = await scriptBytes(page);
    await links.filter({ hasText: name }).click();
    await expect(links.filter({ hasText: name })).toHaveAttribute('aria-current', 'page');
    await loaded(page);
    before.set(name, (await scriptBytes(page)) - had);
  }
  expect(before.size).toBeGreaterThan(10);
  expect([...before].filter(([, bytes]) => bytes > FURTHER_PAGE).map(([name, bytes]) => `${name}: ${kilobytes(bytes)}`)).toEqual([]);
});

/** Bytes of script that one page asks for, read anew; what of it the browser has kept from another page counts as if it came. */
async function weightOf(page: Page, path: string): Promise<number> {
  await page.goto(path);
  await loaded(page);
  const bytes = await scriptBytes(page);
  // Next and React alone are more: fewer would say that the measure is wrong, and not that the page is light.
  expect(bytes, path).toBeGreaterThan(120 * 1024);
  return bytes;
}

/** The timer after which a page fetches what may be needed next never ends: what has come by then is the page itself. */
const neverSettles = (page: Page) =>
  page.addInitScript((settle) => {
    const setTimer = window.setTimeout.bind(window);
    window.setTimeout = ((run: TimerHandler, ms?: number, ...rest: unknown[]) =>
      ms === settle ? 0 : setTimer(run, ms, ...rest)) as typeof window.setTimeout;
  }, SETTLE_MS);

async function loaded(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
  await page.waitForLoadState('networkidle');
}

/** As they came over the wire, compressed, without their heads. */
const scriptBytes = (page: Page): Promise<number> =>
  page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  );

const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`;
