import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { json, operator, setting, startUpstream, type Upstream, until } from './running-system.ts';

/** Calls as figures: of all, of one route, client and key, as they happen, and by client (70 §6). */
const person = { email: 'analyst@example.com', password: 'a great many small numbers' };
const slug = 'analysts';
let upstream: Upstream;
let key = '';
const made: { [name: string]: string } = {};

const call = (path: string) => fetch(`http://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}${path}`, { headers: { 'x-svc-key': key } });

test.beforeAll(async () => {
  test.setTimeout(300_000);
  await operator(['create-tenant', '--slug', slug, '--plan', 'pro', '--owner-email', person.email, '--owner-password', person.password]);
  const created = await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure', '--name', 'worker']);
  key = created.api_key ?? '';
  upstream = await startUpstream((req, res) => res.writeHead(req.url?.includes('fail') ? 500 : 200).end('{}'));
  const make = async (path: string, body: object) =>
    (await json(`${setting('E2E_API_URL')}/v1${path}`, { key, body })).body.data.id as string;
  made.client = await make('/clients', { name: 'till', ip_address: '127.0.0.1' });
  made.idle = await make('/clients', { name: 'archive', ip_address: '203.0.113.9' });
  made.route = await make('/routes', { name: 'payments', slug: 'payments', target_base_url: upstream.url });
  await until('a route serves', async () => (await call('/payments/charges')).status === 200, 10_000);
  for (let i = 0; i < 5; i++) await call('/payments/charges');
  for (let i = 0; i < 3; i++) await call('/payments/fail');
  await call('/nowhere/x');
});
test.afterAll(() => upstream.close());

test('the same calls are in the figures of all, of their route, client and key, on the live page and in the health of their client', async ({
  page,
}) => {
  test.setTimeout(300_000);
  await signIn(page, person, slug);
  const at = (path: string) => page.goto(`/${slug}/live${path}`);
  const figure = (name: string) => page.locator('div', { hasText: new RegExp(`^${name}[\\d,]+`) }).first();

  await expect(async () => {
    await at('/analytics');
    await expect(figure('Calls')).toContainText('Calls10', { timeout: 2_000 });
  }).toPass({ timeout: 60_000 });
  await accessible(page, 'the overview');
  await at('/analytics?view=explorer&by=error,method');
  await expect(page.getByText(/covers calls since/)).toHaveCount(0);
  await at('/analytics?view=explorer&metric=overhead_avg&by=plane');
  await expect(page.getByRole('heading', { name: 'Gateway overhead, average by plane' })).toBeVisible();
  await expect(page.getByText('Routes').last()).toBeVisible();

  await at(`/routes/${made.route ?? ''}?tab=analytics`);
  await expect(figure('Calls')).toContainText('Calls9');
  await expect(page.getByRole('heading', { name: 'Top API keys' })).toBeVisible();
  await accessible(page, 'the analytics of a route');
  await at(`/clients/${made.client ?? ''}?tab=analytics`);
  await expect(figure('Calls')).toContainText(/Calls(9|10)/);
  await at('/api-keys');
  await page
    .getByRole('link', { name: 'worker' })
    .or(page.getByRole('button', { name: 'worker' }))
    .first()
    .click();
  const panel = page.getByRole('dialog', { name: 'worker' });
  await panel.getByRole('radio', { name: 'Analytics' }).click();
  await expect(panel.getByRole('heading', { name: 'Top routes' })).toBeVisible();
  await expect(panel.getByRole('link', { name: 'payments' })).toBeVisible();
  await accessible(page, 'the analytics of a key');

  await at('/client-health');
  const row = page.getByRole('row', { name: /till/ });
  await expect(row).toContainText('Down');
  await expect(page.getByRole('row', { name: /archive/ })).toContainText('Idle');
  await accessible(page, 'the health of clients');
  await page.getByRole('button', { name: /^Idle/ }).click();
  await expect(row).toHaveCount(0);

  await at('/live');
  const feed = page.getByRole('table', { name: 'Newest calls' });
  await expect(feed.getByRole('row')).toHaveCount(11);
  await expect(page.getByRole('img', { name: /World map/ }), 'off until somebody wants it').toHaveCount(0);
  await page.getByRole('switch', { name: 'Show map' }).click();
  await expect(page.getByRole('img', { name: /World map/ })).toBeVisible();
  await accessible(page, 'the live map');
  await call('/payments/charges');
  await expect(feed.getByRole('row'), 'without a reload').toHaveCount(12);
  await page.getByRole('button', { name: 'Pause' }).click();
  await call('/payments/charges');
  await page.waitForTimeout(4_000);
  await expect(feed.getByRole('row')).toHaveCount(12);
  await page.reload();
  await expect(page.getByRole('img', { name: /World map/ }), 'this browser remembers').toBeVisible();
});
