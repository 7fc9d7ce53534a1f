import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { json, operator, setting } from './running-system.ts';

/** Every page there is, as its owner opens it. */
const person = { email: 'mary@example.com', password: 'the connexion of the sciences' };
const slug = 'pages';

test.beforeAll(async () => {
  await operator(['create-tenant', '--slug', slug, '--plan', 'pro', '--owner-email', person.email, '--owner-password', person.password]);
  // Pages with something on them: a call, a refusal, a client and a collection.
  const { api_key: key = '' } = await operator(['create-key', '--slug', slug, '--space', 'test', '--role', 'Key - Infrastructure']);
  const api = `${setting('E2E_SANDBOX_API_URL')}/v1`;
  for (const family of ['clients', 'collections']) {
    const made = await json(`${api}/${family}`, {
      key,
      body: { name: 'Partner', ...(family === 'clients' && { ip_address: '192.0.2.7' }) },
    });
    expect(made.status, made.text).toBe(201);
  }
  const proxy = `http://localhost:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}`;
  expect((await json(`${proxy}/echo/hello`, { headers: { 'x-svc-key': key } })).status).toBe(200);
  expect((await json(`${proxy}/nowhere`, { headers: { 'x-svc-key': key } })).status).toBe(404);
});

test.beforeEach(async ({ page }) => {
  await signIn(page, person, slug);
});

test('every page of the navigation opens in both spaces without a console error, and axe finds nothing serious', async ({ page }) => {
  test.setTimeout(180_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  const pages = [
    '',
    '/routes',
    '/routes/echo',
    '/collections',
    '/clients',
    '/environments',
    '/import',
    '/promote',
    '/secrets',
    '/logs',
    '/audit',
    '/api-keys',
    '/explorer',
    '/quickstart',
  ];
  const paths = [
    ...pages.map((p) => `/${slug}/test${p}`),
    ...pages.filter((p) => p !== '/routes/echo').map((p) => `/${slug}/live${p}`),
    `/${slug}/settings/workspace`,
    `/${slug}/settings/usage`,
    `/${slug}/settings/roles`,
    `/${slug}/settings/versions`,
    '/me/profile',
    '/me/security',
    '/me/preferences',
    '/me/sessions',
  ];
  for (const path of paths) {
    expect((await page.goto(path))?.status(), path).toBe(200);
    await expect(page.getByRole('heading', { level: 1 }).first(), path).toBeVisible();
    await expect(page.getByText(/This page does not exist|There is no such page/), path).toHaveCount(0);
    await accessible(page, path);
    expect(errors, path).toEqual([]);
  }
});

test('signing out ends the session at once, for every page', async ({ page }) => {
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
  test.setTimeout(120_000);
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
    await expect(page.getByRole('heading', { level: 1, name: 'There is no such page' }), path).toBeVisible();
    await expect(page.getByRole('main').getByText(path), path).toBeVisible();
    await expect(frame, path).toBeVisible();
  }
  await accessible(page);
  await page.getByRole('main').getByRole('link', { name: 'Go to Home' }).click();
  await page.waitForURL(`**/${slug}/test`);
  await page.goto(`/${slug}`);
  await page.waitForURL(`**/${slug}/test`);

  const id = '01a1fed1-65d8-7000-aadc-000000000000';
  for (const family of ['routes', 'collections', 'clients', 'secrets']) {
    await page.goto(`/${slug}/test/${family}/${id}`);
    await expect(page.getByText('does not exist here'), family).toBeVisible();
    await expect(frame, family).toBeVisible();
    if (family === 'routes') await accessible(page);
    await page.getByRole('link', { name: `All ${family}` }).click();
    await page.waitForURL(`**/${slug}/test/${family}`);
  }

  // A workspace one is not a member of is no workspace: nothing of a frame says otherwise.
  expect((await page.goto('/somebody-elses/test'))?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1, name: 'This page does not exist' })).toBeVisible();
  await expect(frame).toHaveCount(0);
});
