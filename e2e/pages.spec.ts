import { existsSync } from 'node:fs';
import { type BrowserContext, expect, test } from '@playwright/test';
import { families } from '#components/families.ts';
import type { FamilyPage, PageFamily, PageSamples } from '#components/shell/page-family.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, unique } from './running-system.ts';
import { kilobytes, loaded, neverSettles, newTab, scriptBytes } from './script-weight.ts';

/** Every page there is, as its owner opens it; with E2E_FAMILY set to folders of families, separated by commas, the pages of those. */
const family = process.env.E2E_FAMILY?.split(',');
const tested = families.filter(({ name }) => !family || family.includes(name));
const samplesOf = async (name: string): Promise<PageSamples> =>
  existsSync(`components/${name}/samples.ts`) ? (await import(`#components/${name}/samples.ts`)).samples : {};
const samples = new Map(await Promise.all(tested.map(async ({ name }) => [name, await samplesOf(name)] as const)));

const slug = unique('pages');
const person = { email: `owner@${slug}.example`, password: 'the connexion of the sciences' };
/** Pages of what exists, below the space, by family. */
const details = new Map([...samples].map(([name, sample]) => [name, [...(sample.details ?? [])]]));

/** What the scripts of a page weigh as the browser gets them, before anybody asked for more (70 §1). */
const FIRST_LOAD = 220 * 1024;
const FURTHER_PAGE = 64 * 1024;

// In parts, one a worker: each signs in to a workspace of its own.
test.describe.configure({ mode: 'parallel' });

// Neither the zone nor the language of the server: text that was drawn there in its own would fail here.
test.use({ timezoneId: 'Pacific/Auckland', locale: 'en-GB' });

/** Signed in once for all tests, whose pages share what the browser keeps. */
let signedIn: BrowserContext;

test.beforeAll(async ({ browser }) => {
  await createWorkspace(slug, person);
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
  const post = async (path: string, body: object) => {
    const made = await json(`${setting('E2E_SANDBOX_API_URL')}/v1${path}`, { key, body });
    expect(made.status, made.text).toBeLessThan(300);
    return made.body.data;
  };
  for (const [name, { create, make, ofKey, paths, views = [] }] of samples) {
    const made = [...(ofKey?.(keyId) ?? []), ...((await make?.(post)) ?? [])];
    if (create) {
      const page = `${paths?.page ?? `/${name}`}/${(await post(paths?.api ?? `/${name}`, create)).id}`;
      made.push(page, ...views.map((view) => `${page}${view}`));
    }
    details.get(name)?.push(...made);
  }
  const proxy = `http://localhost:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}`;
  expect((await json(`${proxy}/echo/hello`, { headers: { 'x-svc-key': key } })).status).toBe(200);
  expect((await json(`${proxy}/nowhere`, { headers: { 'x-svc-key': key } })).status).toBe(404);
  signedIn = await browser.newContext();
  const page = await signedIn.newPage();
  await signIn(page, person, slug);
  await page.close();
});
test.afterAll(() => signedIn?.close());

type Visit = { path: string; weighed: boolean; checked: boolean };

/**
 * Opens pages in two tabs that weigh their scripts, and in a third that sees what comes once a page has settled. None may log an error, be
 * inaccessible where `checked`, or bring more than 220 KB of scripts before something on it is asked for.
 */
async function walk(context: BrowserContext, visits: readonly Visit[]): Promise<void> {
  const errors: string[] = [];
  const weights = new Map<string, number>();
  const tab = async (rest: IterableIterator<Visit>, weigh: boolean) => {
    const page = await newTab(context);
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    if (weigh) await neverSettles(page);
    for (const { path, checked } of rest) {
      expect((await page.goto(path))?.status(), path).toBe(200);
      await loaded(page);
      await expect(page.getByText('Page not found'), path).toHaveCount(0);
      if (weigh) weights.set(path, await scriptBytes(page));
      if (checked) await accessible(page, path);
      expect(errors, path).toEqual([]);
    }
    await page.close();
  };
  const [heavy, settled] = [visits.filter(({ weighed }) => weighed), visits.filter(({ weighed }) => !weighed)];
  const shared = heavy.values();
  const tabs = [
    tab(shared, true),
    ...(heavy.length > 1 ? [tab(shared, true)] : []),
    ...(settled.length ? [tab(settled.values(), false)] : []),
  ];
  await Promise.all(tabs);
  expect(weights.size).toBe(heavy.length);
  // Next and React alone are more: fewer would say that the measure is wrong, and not that the page is light.
  expect(Math.min(...weights.values())).toBeGreaterThan(110 * 1024);
  const told = [...weights].map(([path, bytes]) => `${path}: ${kilobytes(bytes)}`).join('\n');
  test.info().annotations.push({ type: 'weights', description: told });
  expect(
    [...weights].filter(([, bytes]) => bytes > FIRST_LOAD).map(([path, bytes]) => `${path}: ${kilobytes(bytes)}`),
    told,
  ).toEqual([]);
}

/** A page of Live is that of Test in other colours, unless the family says otherwise. */
function visitsOf({ name, pages }: PageFamily): Visit[] {
  const pathsIn = (scope: FamilyPage['scope']) => pages.filter((page) => page.scope === scope).map(({ path }) => path);
  const inTest = [...pathsIn('space'), ...(details.get(name) ?? [])].map((path) => `/${slug}/test${path}`);
  const above = [...pathsIn('workspace').map((path) => `/${slug}${path}`), ...pathsIn('person')];
  return [
    ...[...inTest, ...above].map((path) => ({ path, weighed: true, checked: true })),
    ...pathsIn('space').map((path) => ({
      path: `/${slug}/live${path}`,
      weighed: false,
      checked: samples.get(name)?.differsInLive ?? false,
    })),
  ];
}

test('the pages outside of a workspace open without an error, are accessible and light', async ({ browser }) => {
  const docs = tested.flatMap((one) => one.pages.flatMap((page) => (page.docs ? [`/docs/${page.docs}`] : [])));
  const outside = family ? [...new Set(docs)] : ['/signin', '/signup', '/forgot', '/docs', '/docs/routes', '/docs/errors'];
  const context = await browser.newContext();
  await walk(
    context,
    outside.map((path) => ({ path, weighed: true, checked: true })),
  );
  await context.close();
});

for (const one of tested)
  test(`the pages of ${one.name} open without an error, are accessible and light`, async () => {
    await walk(signedIn, visitsOf(one));
  });

test('the way from one page to the next brings no more than 64 KB of scripts', async () => {
  const page = await newTab(signedIn);
  await neverSettles(page);
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

test('an address that no page has is told inside the frame, with a way on', async () => {
  const page = await signedIn.newPage();
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

  // A workspace one is not a member of is no workspace: nothing of a frame says otherwise.
  expect((await page.goto('/somebody-elses/test'))?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible();
  await expect(frame).toHaveCount(0);
  await page.close();
});

const ID = '01a1fed1-65d8-7000-aadc-000000000000';
const withOwnPage = tested.flatMap(({ resources = [] }) => resources.filter((one) => one.path?.(ID).endsWith(`/${ID}`)));
for (const { type, noun, path } of withOwnPage)
  test(`an ID that no ${noun} has is told inside the frame, with the way to the list`, async () => {
    const page = await signedIn.newPage();
    await page.goto(`/${slug}/test${path?.(ID)}`);
    await expect(page.getByText(/ not found$/)).toBeVisible();
    await expect(page.getByRole('navigation', { name: 'Pages' })).toBeVisible();
    if (type === 'route') await accessible(page);
    const list = page.getByRole('main').getByRole('link', { name: /^View / });
    // Where the list stands, which need not be right above its things.
    const href = await list.getAttribute('href');
    await list.click();
    await page.waitForURL(`**${href}`);
    await expect(page.getByText(/ not found$/)).toHaveCount(0);
    await page.close();
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
