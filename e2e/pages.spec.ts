import { existsSync } from 'node:fs';
import { type BrowserContext, expect, test } from '@playwright/test';
import { families } from '#components/families.ts';
import type { FamilyPage, PageSamples } from '#components/shell/page-family.ts';
import { accessible, signIn } from './person.ts';
import { json, operator, setting } from './running-system.ts';
import { kilobytes, loaded, neverSettles, scriptBytes } from './script-weight.ts';

/** Every page there is, as its owner opens it; with E2E_FAMILY set to the folder of a family, the pages of that family. */
const family = process.env.E2E_FAMILY;
const tested = families.filter(({ name }) => !family || name === family);
const samplesOf = async (name: string): Promise<PageSamples> =>
  existsSync(`components/${name}/samples.ts`) ? (await import(`#components/${name}/samples.ts`)).samples : {};
const samples = new Map(await Promise.all(tested.map(async ({ name }) => [name, await samplesOf(name)] as const)));
const pathsIn = (scope: FamilyPage['scope']) =>
  tested.flatMap(({ pages }) => pages.filter((page) => page.scope === scope).map(({ path }) => path));

const person = { email: 'mary@example.com', password: 'the connexion of the sciences' };
const slug = 'pages';
/** Pages of what exists, below the space. */
const details = [...samples.values()].flatMap((sample) => sample.details ?? []);
/** Playwright prepares once more after a test that failed. */
const run = Date.now();

/** What the scripts of a page weigh as the browser gets them, before anybody asked for more (70 §1). */
const FIRST_LOAD = 220 * 1024;
const FURTHER_PAGE = 60 * 1024;

// Neither the zone nor the language of the server: text that was drawn there in its own would fail here.
test.use({ timezoneId: 'Pacific/Auckland', locale: 'en-GB' });

test.beforeAll(async () => {
  await operator(['create-tenant', '--slug', slug, '--plan', 'pro', '--owner-email', person.email, '--owner-password', person.password]);
  // Pages with something on them: a call, a refusal, a client, a collection and a secret. Home shows the way to the first call until there was one.
  const { api_key: key = '', key_id: keyId = '' } = await operator([
    'create-key',
    '--slug',
    slug,
    '--space',
    'test',
    '--role',
    'Key - Infrastructure',
  ]);
  for (const [name, { create, ofKey, paths, views = [] }] of samples) {
    details.push(...(ofKey?.(keyId) ?? []));
    if (!create) continue;
    const made = await json(`${setting('E2E_SANDBOX_API_URL')}/v1${paths?.api ?? `/${name}`}`, { key, body: create(run) });
    expect(made.status, made.text).toBe(201);
    const page = `${paths?.page ?? `/${name}`}/${(JSON.parse(made.text) as { data: { id: string } }).data.id}`;
    details.push(page, ...views.map((view) => `${page}${view}`));
  }
  const proxy = `http://localhost:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}`;
  expect((await json(`${proxy}/echo/hello`, { headers: { 'x-svc-key': key } })).status).toBe(200);
  expect((await json(`${proxy}/nowhere`, { headers: { 'x-svc-key': key } })).status).toBe(404);
});

test('every page opens without a console error, axe finds nothing serious, and none brings more than 220 KB of scripts before something on it is asked for', async ({
  browser,
}) => {
  test.setTimeout(300_000);
  const errors: string[] = [];
  /** Of the pages of Live, which are those of Test in other colours, what says more there or is still empty. */
  const differentInLive = new Set(
    tested.flatMap(({ name, pages }) => (samples.get(name)?.differsInLive ? pages.map(({ path }) => `/${slug}/live${path}`) : [])),
  );
  const weights = new Map<string, number>();
  const tab = async (context: BrowserContext, paths: IterableIterator<string>, weigh: boolean) => {
    const page = await context.newPage();
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    if (weigh) await neverSettles(page);
    for (const path of paths) {
      expect((await page.goto(path))?.status(), path).toBe(200);
      await loaded(page);
      await expect(page.getByText('Page not found'), path).toHaveCount(0);
      if (weigh) weights.set(path, await scriptBytes(page));
      if (weigh || differentInLive.has(path)) await accessible(page, path);
      expect(errors, path).toEqual([]);
    }
  };
  const pages = pathsIn('space');
  const inTest = [...pages, ...details].map((page) => `/${slug}/test${page}`);
  const settings = pathsIn('workspace').map((page) => `/${slug}${page}`);
  const context = await browser.newContext();
  const docs = tested.flatMap((one) => one.pages.flatMap((page) => (page.docs ? [`/docs/${page.docs}`] : [])));
  const outside = family ? [...new Set(docs)] : ['/signin', '/signup', '/forgot', '/docs', '/docs/routes', '/docs/errors'];
  await tab(context, outside.values(), true);
  const page = await context.newPage();
  await signIn(page, person, slug);
  await page.close();
  // Two tabs weigh, and a third sees what comes once a page has settled.
  const weighed = [...inTest, ...settings, ...pathsIn('person')];
  const shared = weighed.values();
  const live = pages.map((page) => `/${slug}/live${page}`);
  await Promise.all([tab(context, shared, true), tab(context, shared, true), tab(context, live.values(), false)]);
  await context.close();
  expect(weights.size).toBe(outside.length + weighed.length);
  // Next and React alone are more: fewer would say that the measure is wrong, and not that the page is light.
  expect(Math.min(...weights.values())).toBeGreaterThan(110 * 1024);
  const told = [...weights].map(([path, bytes]) => `${path}: ${kilobytes(bytes)}`).join('\n');
  test.info().annotations.push({ type: 'weights', description: told });
  expect(
    [...weights].filter(([, bytes]) => bytes > FIRST_LOAD).map(([path, bytes]) => `${path}: ${kilobytes(bytes)}`),
    told,
  ).toEqual([]);
});

test('the way from one page to the next brings no more than 60 KB of scripts', async ({ page }) => {
  test.setTimeout(300_000);
  await neverSettles(page);
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test`);
  await loaded(page);
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  const before = new Map<string, number>();
  const labels = new Set(tested.flatMap((one) => one.pages.map(({ label }) => label)));
  for (const name of (await links.allInnerTexts()).filter((name) => name !== 'Home' && labels.has(name))) {
    const had = await scriptBytes(page);
    const link = links.filter({ has: page.getByText(name, { exact: true }) });
    await link.click();
    await expect(link).toHaveAttribute('aria-current', 'page');
    await loaded(page);
    before.set(name, (await scriptBytes(page)) - had);
  }
  if (!family) expect(before.size).toBeGreaterThan(10);
  expect([...before].filter(([, bytes]) => bytes > FURTHER_PAGE).map(([name, bytes]) => `${name}: ${kilobytes(bytes)}`)).toEqual([]);
});

test('signing out ends the session at once, for every page', async ({ page }) => {
  await signIn(page, person, slug);
  await page
    .getByRole('button', { name: /account|Mary/i })
    .first()
    .click();
  await page.getByRole('menuitem', { name: /sign out/i }).click();
  await page.waitForURL('**/signin');
  await page.goto(`/${slug}/test/secrets`);
  await page.waitForURL('**/signin**');
});

test('an address that no page has, and an id that no thing has, are told inside the frame, with a way on', async ({ page }) => {
  test.setTimeout(300_000);
  await signIn(page, person, slug);
  const frame = page.getByRole('navigation', { name: 'Pages' });
  const missing = [
    `/${slug}/test/nowhere`,
    `/${slug}/test/routes/echo/deeper`,
    `/${slug}/nowhere`,
    `/${slug}/settings/nowhere`,
    '/me/nowhere',
  ];
  for (const path of missing) {
    const answer = await page.goto(path);
    expect(answer?.status(), path).toBe(404);
    await expect(page.getByRole('heading', { level: 1, name: 'Page not found' }), path).toBeVisible();
    await expect(page.getByRole('main').getByText(path), path).toBeVisible();
    await expect(frame, path).toBeVisible();
  }
  await accessible(page);
  await page.getByRole('main').getByRole('link', { name: 'Go to Home' }).click();
  await page.waitForURL(`**/${slug}/test`);
  await page.goto(`/${slug}`);
  await page.waitForURL(`**/${slug}/test`);

  const id = '01a1fed1-65d8-7000-aadc-000000000000';
  const withOwnPage = tested.flatMap(({ resources = [] }) => resources.filter((one) => one.path?.(id).endsWith(`/${id}`)));
  for (const { type, plural, path } of withOwnPage) {
    await page.goto(`/${slug}/test${path?.(id)}`);
    await expect(page.getByText(/ not found$/), type).toBeVisible();
    await expect(frame, type).toBeVisible();
    if (type === 'route') await accessible(page);
    await page.getByRole('link', { name: `View ${plural}` }).click();
    await page.waitForURL(`**/${slug}/test${path?.('').replace(/\/$/, '')}`);
  }

  // A workspace one is not a member of is no workspace: nothing of a frame says otherwise.
  expect((await page.goto('/somebody-elses/test'))?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible();
  await expect(frame).toHaveCount(0);
});
