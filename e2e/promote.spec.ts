import { execFileSync } from 'node:child_process';
import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, unique } from './running-system.ts';

/** 64 §5: the starter route goes live without its value, waits for one, is switched on by a person, and answers a live key. */
const slug = unique('golive');
const person = { email: `owner@${slug}.example`, password: 'a kettle with two spouts' };

// The second test looks at what the first one left.
test.describe.configure({ mode: 'serial' });

test.beforeAll(async () => {
  await createWorkspace(slug, person);
});

test('the starter is promoted, its value filled, the route switched on and called in Live', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto(`/${slug}/live`);
  await page.getByRole('link', { name: 'Promote from Test' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Promote to Live' })).toBeVisible();
  await accessible(page);
  // What the list is narrowed to stands in the address, as everywhere.
  await page.getByPlaceholder('Filter by name').fill('ech');
  await expect(page).toHaveURL(/\?q=ech$/);
  await page.reload();
  await expect(page.getByPlaceholder('Filter by name')).toHaveValue('ech');
  await page.getByRole('checkbox', { name: 'Select echo' }).check();
  // Its notes name the secret; a row of the secret's own is not among those narrowed down to.
  await expect(page.getByRole('checkbox', { name: 'Select SAMPLE_API_KEY' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Review plan' }).click();

  // The plan: the route stays off, and the secret comes along without its value.
  await expect(page.getByText('1 secret will need a value in Live')).toBeVisible();
  await expect(page.getByRole('row', { name: /^SAMPLE_API_KEY/ })).toContainText('Create');
  await accessible(page);
  await page.getByRole('button', { name: 'Promote 2 items to Live' }).click();
  await expect(page.getByText('1 route and 1 secret promoted to Live')).toBeVisible();
  await accessible(page);

  // A placeholder without a value, and the way to fill it.
  await page.getByRole('link', { name: 'Set SAMPLE_API_KEY' }).click();
  await page.waitForURL(`**/${slug}/live/secrets/**`);
  await expect(page.getByRole('heading', { level: 1, name: 'SAMPLE_API_KEY' })).toBeVisible();
  await page.getByRole('button', { name: 'Set value' }).first().click();
  await page.getByRole('dialog').getByRole('textbox').first().fill('the value of Live 4711');
  await page.getByRole('dialog').getByRole('button', { name: 'Set value' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();

  await page.goto(`/${slug}/live/routes/echo`);
  await page.getByRole('switch', { name: 'Off', exact: true }).click();
  await expect(page.getByRole('switch', { name: 'On', exact: true })).toBeVisible();

  // The first live call, with a live key made on request: the value of Live goes out, masked in what the upstream shows.
  await page.goto(`/${slug}/live`);
  await page.getByRole('button', { name: 'Create live key' }).click();
  const code = page.locator('pre').first();
  await expect(code).toContainText(/tk_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{51}/);
  const line = (await code.innerText()).replaceAll('\u00a0', ' ').replace(/^\$ /, '');
  const answer = JSON.parse(execFileSync('bash', ['-c', `${line} -s`], { encoding: 'utf8' })) as { headers: Record<string, string> };
  expect(answer.headers['x-demo-key']).toBe('[redacted:secret:SAMPLE_API_KEY]');

  // Promoted again there is nothing to do, and both histories tell of it.
  await page.goto(`/${slug}/test/promote`);
  await expect(page.getByText('Live is up to date')).toBeVisible();
  for (const space of ['live', 'test']) {
    await page.goto(`/${slug}/${space}/audit?resource_type=sandbox`);
    await expect(page.getByText('moved configuration').first()).toBeVisible();
  }
  await page.goto(`/${slug}/test`);
  await expect(page.getByRole('heading', { name: 'Make your first call' })).toBeVisible();
  await expect(page.getByText('Go live'), 'Live has something: what is different there is known').toHaveCount(0);
});

test('Test is reset by its Owner, who types the name: its key is refused at once, and the starter is there again', async ({ page }) => {
  const { api_key: key = '' } = await operator(['create-key', '--slug', slug, '--space', 'test', '--role', 'Key - Infrastructure']);
  const routes = `${setting('E2E_SANDBOX_API_URL')}/v1/routes`;
  const call = `http://localhost:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}/echo/hello`;
  expect((await json(routes, { key, body: { name: 'mine', target_base_url: 'https://example.com' } })).status).toBe(201);
  expect((await json(call, { headers: { 'x-svc-key': key } })).status).toBe(200);
  await signIn(page, person, slug);
  await page.goto(`/${slug}/settings/workspace`);
  await page.getByRole('button', { name: 'Reset Test…' }).click();
  const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'));
  const confirm = dialog.getByRole('button', { name: 'Reset Test' });
  await expect(confirm).toHaveAttribute('aria-disabled', 'true');
  await accessible(page);
  await dialog.getByRole('textbox').fill((await dialog.locator('code').first().textContent()) ?? '');
  await confirm.click();
  await expect(page.getByText(/^Test reset\. \d+ resources? deleted\.$/)).toBeVisible();
  expect((await json(routes, { key })).status).toBe(401);
  expect((await json(call, { headers: { 'x-svc-key': key } })).status).toBe(401);
  await page.goto(`/${slug}/test/routes`);
  await expect(page.getByRole('row', { name: /echo/ })).toBeVisible();
  await expect(page.getByRole('row', { name: /mine/ })).toHaveCount(0);
  // What was promoted before is Live's own.
  await page.goto(`/${slug}/live/routes`);
  await expect(page.getByRole('row', { name: /echo/ })).toBeVisible();
});
