import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, logged, operator, setting, startUpstream, unique } from './running-system.ts';

/** 70 §9: the members of a collection are taken in and out on its page, and what a client is noted for has its place. */
const slug = unique('shelves');
const person = { email: `owner@${slug}.example`, password: 'eleven books on one shelf' };

test.beforeAll(async () => {
  await createWorkspace(slug, person);
});

test('a collection takes secrets and clients in and gives them back', async ({ page }) => {
  const key = (await operator(['create-key', '--slug', slug, '--space', 'test'])).api_key ?? '';
  const make = async (path: string, body: object) =>
    (await json(`${setting('E2E_SANDBOX_API_URL')}/v1${path}`, { key, body })).body.data as { id: string };
  const { id } = await make('/collections', { name: 'Payments' });
  await make('/secrets', { name: 'PAY_KEY', value: 'a value of some length' });
  const client = await make('/clients', { name: 'till', ip_address: '203.0.113.7' });

  await signIn(page, person, slug);

  await page.goto(`/${slug}/test/collections/${id}`);
  for (const [tab, add, name] of [
    ['Secrets', 'Add a secret', 'PAY_KEY'],
    ['Clients', 'Add a client', 'till'],
  ] as const) {
    await page
      .getByRole('link', { name: new RegExp(`^${tab}`) })
      .last()
      .click();
    await page.getByRole('combobox', { name: add }).fill(name.slice(0, 3));
    await page.getByRole('option', { name }).click();
    const row = page.getByRole('row', { name: new RegExp(name) });
    await expect(row).toBeVisible();
    await accessible(page);
    await row.getByRole('button', { name: /actions/i }).click();
    await page.getByRole('menuitem', { name: 'Remove from collection' }).click();
    await expect(page.getByText(`No ${tab.toLowerCase()} yet`)).toBeVisible();
  }
  await page.getByRole('button', { name: 'Edit' }).click();
  await expect(page.getByRole('textbox', { name: 'Slug' })).not.toBeEditable();
  await page.getByRole('button', { name: 'Payments', exact: true }).click();
  await accessible(page);
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  expect((await json(`${setting('E2E_SANDBOX_API_URL')}/v1/collections/${id}`, { key })).body.data.icon).toBe('credit-card');

  await page.goto(`/${slug}/test/clients/${client.id}`);
  await expect(page.getByRole('definition').filter({ hasText: 'Germany' })).toBeVisible();
  await page.getByRole('button', { name: 'Edit' }).click();
  const notes = page.getByRole('textbox', { name: 'Notes' });
  await notes.fill('{"office":');
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect(page.getByText(/Enter a JSON object/)).toBeVisible();
  await notes.fill('{"office": "Bern"}');
  await page.getByRole('button', { name: /^Save/ }).click();
  await expect(page.getByRole('definition').filter({ hasText: 'Bern' })).toBeVisible();
});

test('a collection shows the calls of its routes and who can reach what, and the log can be narrowed to it', async ({ page }) => {
  const upstream = await startUpstream();
  const key = (await operator(['create-key', '--slug', slug, '--space', 'test'])).api_key ?? '';
  const make = async (path: string, body: object) =>
    (await json(`${setting('E2E_SANDBOX_API_URL')}/v1${path}`, { key, body })).body.data as { id: string };
  const { id } = await make('/collections', { name: 'Tills' });
  const inside = { target_base_url: upstream.url, collection_id: id };
  const route = await make('/routes', { name: 'Receipts', ...inside });
  await make('/routes', { name: 'Drawer', ...inside, requires_clients: true });
  const outside = await make('/routes', { name: 'Elsewhere', target_base_url: upstream.url });
  const proxy = `http://127.0.0.1:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}`;
  const calls = [await json(`${proxy}/${route.id}/receipt/7`, { key }), await json(`${proxy}/${outside.id}/not-ours`, { key })];
  expect(calls.map(({ status }) => status)).toEqual([200, 200]);

  await signIn(page, person, slug);
  await logged(setting('E2E_SANDBOX_API_URL'), key, calls);
  await page.goto(`/${slug}/test/collections/${id}?tab=requests`);
  await expect(page.getByText('/receipt/7')).toBeVisible();
  await expect(page.getByText('/not-ours')).toHaveCount(0);
  await accessible(page);
  await page.getByRole('link', { name: 'View older calls in Logs' }).click();
  await expect(page.getByText('Collection Tills')).toBeVisible();
  await expect(page.getByText('/receipt/7').first()).toBeVisible();
  await expect(page.getByText('/not-ours')).toHaveCount(0);

  await page.goto(`/${slug}/test/collections/${id}?tab=access`);
  await expect(page.getByText('Any key that can call routes.')).toBeVisible();
  await expect(page.getByText('No one: only assigned clients can call, and none are assigned.')).toBeVisible();
  await expect(page.getByText('Can call and change routes.').first()).toBeVisible();
  await expect(page.getByText('View everything except secret values, change routes')).toBeVisible();
  await accessible(page);
  await page.getByRole('link', { name: 'Drawer' }).click();
  await expect(page.getByText('Require an assigned client')).toBeVisible();
  upstream.close();
});

test('the cards tell how a collection does and who answers for it; routes are moved between collections by keyboard and by dragging', async ({
  page,
}) => {
  const key = (await operator(['create-key', '--slug', slug, '--space', 'test'])).api_key ?? '';
  const api = `${setting('E2E_SANDBOX_API_URL')}/v1`;
  const make = async (path: string, body: object) => (await json(api + path, { key, body })).body.data as { id: string };
  const upper = await make('/collections', { name: 'Upper shelf' });
  const lower = await make('/collections', { name: 'Lower shelf of everything that is kept for the catalogues of all regions' });
  const upstream = await startUpstream();
  const route = await make('/routes', { name: 'atlas', target_base_url: upstream.url });
  const where = async () => (await json(`${api}/routes/${route.id}`, { key })).body.data.collection_id as string | null;

  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/routes?by=collection&q=atlas`);
  const group = (name: string) => page.locator('[data-group]').filter({ has: page.getByRole('heading', { name }) });
  await expect(group('No collection').getByRole('link', { name: 'atlas' })).toBeVisible();
  await accessible(page);
  const wide = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 'a long name wraps on a phone').toBeLessThanOrEqual(
    0,
  );
  if (wide) await page.setViewportSize(wide);
  await page.getByRole('button', { name: 'Move atlas' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitemcheckbox', { name: 'Upper shelf' }).press('Enter');
  await expect(group('Upper shelf').getByRole('link', { name: 'atlas' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Move atlas' })).toBeFocused();
  expect(await where()).toBe(upper.id);
  await group('Upper shelf').getByRole('listitem').dragTo(group('Lower shelf'));
  await expect(group('Lower shelf').getByRole('link', { name: 'atlas' })).toBeVisible();
  expect(await where()).toBe(lower.id);
  await group('Lower shelf').getByRole('listitem').dragTo(group('No collection'));
  await expect(group('No collection').getByRole('link', { name: 'atlas' })).toBeVisible();
  expect(await where()).toBe(null);
  await json(`${api}/routes/${route.id}`, { key, method: 'PATCH', body: { collection_id: upper.id } });

  const proxied = await json(`http://localhost:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}/atlas/x`, { key });
  expect(proxied.status).toBe(200);
  await page.goto(`/${slug}/test/collections/${upper.id}?tab=access`);
  await page.getByRole('combobox', { name: 'Add owner' }).fill('shelves');
  await page.getByRole('option', { name: /shelves/ }).click();
  await expect(page.getByRole('button', { name: /^Remove .* as owner$/ })).toBeVisible();
  await accessible(page);
  await logged(setting('E2E_SANDBOX_API_URL'), key, [proxied]);
  await page.goto(`/${slug}/test/collections`);
  const card = page.getByRole('link', { name: /Upper shelf/ });
  await expect(card).toContainText('1 call today');
  await expect(card).toContainText(/Owned by.*shelves/);
  await expect(card).toContainText('1 route');
  await accessible(page);
  upstream.close();
});
