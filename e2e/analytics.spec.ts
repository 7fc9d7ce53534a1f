import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, logged, operator, setting, startUpstream, type Upstream, unique, until } from './running-system.ts';

/** Calls as figures: of all, of one route, client and key, as they happen, and by client (70 §6). */
const slug = unique('analysts');
const person = { email: `owner@${slug}.example`, password: 'a great many small numbers' };
let upstream: Upstream;
let key = '';
const made: { [name: string]: string } = {};

const call = (path: string) => fetch(`http://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}${path}`, { headers: { 'x-svc-key': key } });

test.beforeAll(async () => {
  await createWorkspace(slug, person);
  const created = await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure', '--name', 'worker']);
  key = created.api_key ?? '';
  upstream = await startUpstream((req, res) => res.writeHead(req.url?.includes('fail') ? 500 : 200).end('{}'));
  const make = async (path: string, body: object) =>
    (await json(`${setting('E2E_API_URL')}/v1${path}`, { key, body })).body.data.id as string;
  made.client = await make('/clients', { name: 'till', ip_address: '127.0.0.1' });
  made.idle = await make('/clients', { name: 'archive', ip_address: '203.0.113.9' });
  made.route = await make('/routes', { name: 'payments', slug: 'payments', target_base_url: upstream.url });
  await until('a route serves', async () => (await call('/payments/charges')).status === 200);
  const calls: Response[] = [];
  for (let i = 0; i < 5; i++) calls.push(await call('/payments/charges'));
  for (let i = 0; i < 3; i++) calls.push(await call('/payments/fail'));
  calls.push(await call('/nowhere/x'));
  await logged(setting('E2E_API_URL'), key, calls);
});
test.afterAll(() => upstream.close());

test('the same calls are in the figures of all, of their route, client and key, on the live page and in the health of their client', async ({
  page,
}) => {
  await signIn(page, person, slug);
  const at = (path: string) => page.goto(`/${slug}/live${path}`);
  const figure = (name: string) => page.locator('div', { hasText: new RegExp(`^${name}[\\d,]+`) }).first();

  await at('/analytics');
  await expect(figure('Calls')).toContainText('Calls10');
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
  const other = await page.context().newPage();
  await other.goto(page.url());
  await page.getByRole('button', { name: 'Pause' }).click();
  await call('/payments/charges');
  await expect(other.getByRole('table', { name: 'Newest calls' }).getByRole('row')).toHaveCount(13);
  await other.close();
  await expect(feed.getByRole('row'), 'paused').toHaveCount(12);
  await page.reload();
  await expect(page.getByRole('img', { name: /World map/ }), 'this browser remembers').toBeVisible();
});
