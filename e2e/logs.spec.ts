import fs from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, startUpstream, type Upstream, unique, until } from './running-system.ts';

/** The request log as one person reads it, and the figures other pages show of the same calls (13 §9, 70 §4 to §6). */
const slug = unique('log-readers');
const person = { email: `owner@${slug}.example`, password: 'every line of a long story' };
const CANARY = 'canary-value-of-a-secret';
let upstream: Upstream;
let key = '';

const call = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}${path}`, { headers: { 'x-svc-key': key, ...headers } });
const rows = (page: Page) => page.getByRole('list', { name: 'Calls' }).getByRole('listitem');

test.describe.configure({ mode: 'serial' });

test.beforeAll(async () => {
  await createWorkspace(slug, person);
  key =
    (await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure', '--name', 'worker'])).api_key ?? '';
  upstream = await startUpstream((req, res) => res.writeHead(req.url?.includes('fail') ? 500 : 200).end('{}'));
  const api = setting('E2E_API_URL');
  await json(`${api}/v1/secrets`, { key, body: { name: 'TOKEN', value: CANARY } });
  const inject_headers_json = { 'X-Token': '{{secret:TOKEN}}' };
  for (const name of ['payments', 'ledger'])
    expect(
      (await json(`${api}/v1/routes`, { key, body: { name, slug: name, target_base_url: upstream.url, inject_headers_json } })).status,
    ).toBe(201);
  await until('a route serves', async () => (await call('/payments/v1/charges?page=1', { 'x-tenant': 'blue' })).status === 200);
  for (let i = 0; i < 3; i++) await call(`/payments/v1/charges?page=${(i + 2).toString()}`, { 'x-tenant': 'blue' });
  await call('/ledger/entries/fail');
  await call('/ledger/entries', { authorization: 'Bearer something-of-the-caller' });
  await call('/nowhere/x');
});
test.afterAll(() => upstream.close());

test.beforeEach(async ({ page }) => {
  await signIn(page, person, slug);
});

test('facets count and narrow, two calls are compared by keyboard, and one is tried again without its credential', async ({ page }) => {
  await page.goto(`/${slug}/live/logs`);
  await expect(page.getByText(/^\d+ calls in this period$/)).toBeVisible();
  const facets = page.getByRole('region', { name: 'Filters' });
  await expect(facets.getByRole('button', { name: /^ledger 2/ })).toBeVisible();
  await accessible(page, 'the log with facets');
  await facets.getByRole('button', { name: /^ledger 2/ }).click();
  await expect(page).toHaveURL(/route_id=/);
  await expect(rows(page)).toHaveCount(2);
  await expect(facets.getByRole('button', { name: /^payments/ }), 'what else could be chosen stays').toBeVisible();

  // A panel is one step of the history, however many calls are read in it: Back closes it, and closing it leaves no step behind.
  const step = () => page.evaluate(() => navigation.currentEntry?.index);
  const list = { url: page.url(), step: (await step()) ?? 0 };
  const panel = page.getByRole('dialog', { name: 'Call', exact: true });
  await rows(page).first().getByRole('button').click();
  await expect(panel.getByText('Timing')).toBeVisible();
  const first = page.url();
  await page.keyboard.press('j');
  await expect(page).not.toHaveURL(first);
  await page.goBack();
  await expect(panel).toBeHidden();
  expect(page.url()).toBe(list.url);
  await page.goForward();
  await expect(panel).toBeVisible();
  expect(await step()).toBe(list.step + 1);
  await panel.getByRole('button', { name: 'Close' }).click();
  await expect(panel).toBeHidden();
  expect([page.url(), await step()]).toEqual([list.url, list.step]);

  // The newest two, marked from the keyboard. The panel gives the focus back once it is gone.
  await expect(panel).toHaveCount(0);
  await expect(async () => {
    await rows(page).first().getByRole('button').focus();
    await expect(rows(page).first().getByRole('button')).toBeFocused({ timeout: 500 });
  }).toPass();
  await page.keyboard.press('x');
  await expect(rows(page).first().getByRole('checkbox')).toBeChecked();
  await expect(page.getByText('1 call selected')).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  const compared = page.getByRole('dialog', { name: 'Compare calls' });
  await expect(compared.getByRole('row', { name: /^Status ?, differs 200 500/ })).toBeVisible();
  await expect(compared.getByRole('row', { name: /^authorization ?, differs present absent/ })).toBeVisible();
  await expect(compared.getByRole('row', { name: /^Route/ })).toHaveCount(0);
  await compared.getByText('Show only differences').click();
  await expect(compared.getByRole('row', { name: /^Route ?, same ledger ledger/ })).toBeVisible();
  await accessible(page, 'two calls compared');
  expect(await page.content(), 'no value of a secret or a header').not.toMatch(new RegExp(`${CANARY}|something-of-the-caller`));
  await page.keyboard.press('Escape');
  await expect(page).not.toHaveURL(/compare=/);
  expect(await step(), 'the panel that compares is no step either').toBe(list.step);

  await rows(page).first().getByRole('button').click();
  await page.getByRole('link', { name: 'Retry' }).click();
  await expect(page.getByText('Nothing is sent until you click Send')).toBeVisible();
  await expect(page.getByLabel('Path and query')).toHaveValue('/entries');
  await expect(page.getByText('authorization', { exact: false }).first()).toBeVisible();
  await expect(page.getByRole('textbox', { name: /^Name of header/ }).filter({ hasText: 'authorization' })).toHaveCount(0);
  const before = upstream.seen.length;
  await page.getByRole('button', { name: /^Send/ }).click();
  await expect(page.getByText(/responded with 200/)).toBeVisible();
  expect(upstream.seen.slice(before).map(({ headers }) => [headers['x-token'], headers.authorization])).toEqual([[CANARY, undefined]]);
});

test('the chart follows the status filter, and a 404 shows the path that was called', async ({ page }) => {
  await page.goto(`/${slug}/live/logs?status=404`);
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).first()).toContainText('/nowhere/x');
  const series = (name: RegExp) => page.getByRole('figure').getByRole('button', { name });
  await expect(series(/^4xx/)).toContainText('1');
  await expect(series(/^2xx/)).toHaveCount(0);
  await expect(page.getByText('filters the list only')).toHaveCount(0);
  await page.goto(`/${slug}/live/logs?status=2xx`);
  await expect(series(/^2xx/)).toBeVisible();
  await expect(series(/^4xx/)).toHaveCount(0);
});

test('a live list stands still under the pointer, says what waits, and goes on when it is left', async ({ page }) => {
  await page.goto(`/${slug}/live/logs`);
  await rows(page).first().waitFor();
  await page.getByRole('switch', { name: /^Live/ }).click();
  await call('/payments/live-1');
  await expect(rows(page).first()).toContainText('/live-1');
  await rows(page).nth(2).hover();
  await call('/payments/live-2');
  await call('/payments/live-3');
  await expect(page.getByRole('button', { name: '2 new, paused while you scroll' })).toBeVisible();
  await expect(rows(page).first()).toContainText('/live-1');
  await page.keyboard.press('n');
  await expect(rows(page).first()).toContainText('/live-3');
  await call('/payments/live-4');
  await expect(page.getByRole('button', { name: '1 new, paused while you scroll' })).toBeVisible();
  await page.mouse.move(5, 5);
  await expect(rows(page).first()).toContainText('/live-4');

  // A filter holds for what came live, too; and when the tail ends, the list keeps what it brought.
  const ledger = page.getByRole('region', { name: 'Filters' }).getByRole('button', { name: /^ledger / });
  await ledger.click();
  await expect(rows(page).first()).toContainText('/entries');
  await expect(rows(page).filter({ hasText: '/live-' })).toHaveCount(0);
  await ledger.click();
  await expect(rows(page).filter({ hasText: '/live-' })).toHaveCount(4);
  await page.mouse.move(5, 5);
  await page.getByRole('switch', { name: /^Live/ }).click();
  await expect(page.getByRole('switch', { name: /^Live/ })).not.toBeChecked();
  await page.getByRole('button', { name: 'Export' }).hover();
  await expect(rows(page).filter({ hasText: '/live-' })).toHaveCount(4);
});

test('Home, the log and the usage page tell the same numbers, and the table of days adds up to them', async ({ page }) => {
  await page.goto(`/${slug}/live/logs?mode=route`);
  const shown = await page.getByText(/^\d+ calls in this period$/).innerText();
  const calls = Number(/\d+/.exec(shown)?.[0]);
  await page.goto(`/${slug}/live/logs?mode=route&outcome=failed`);
  const failed = Number(/\d+/.exec(await page.getByText(/^\d+ calls in this period$/).innerText())?.[0]);
  expect([calls > 7, failed]).toEqual([true, 2]);

  await page.goto(`/${slug}/live`);
  await expect(page.getByText(`${calls.toString()} calls in the last 24 hours`)).toBeVisible();
  await accessible(page, 'Home');
  await page.getByRole('link', { name: /^Error rate/ }).click();
  await expect(page.getByText(`${failed.toString()} calls in this period`)).toBeVisible();

  await page.goto(`/${slug}/settings/usage`);
  const all = page.getByRole('table', { name: 'Calls this month by route' }).getByRole('row', { name: /^Total/ });
  // One call found no route: it is a call, and the plan took none of it.
  const counted = (calls - 1).toString();
  await expect(all).toContainText(new RegExp(`Total\\s*${counted}\\s*100%\\s*${calls.toString()}\\s*${failed.toString()}`));
  // The plan's own counter, which is not made from the log.
  await expect(page.getByRole('meter', { name: 'Live calls this month' })).toHaveAttribute('aria-valuenow', counted);
  await page.getByRole('group', { name: /calls by day/ }).focus();
  await page.keyboard.press('End');
  await accessible(page, 'the usage page');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const lines = fs
    .readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\r\n');
  expect(lines[0]).toBe('day,route,route_id,calls,errors,counted');
  const sum = (column: number) => lines.slice(1).reduce((total, line) => total + Number(line.split(',')[column]), 0);
  expect([sum(3), sum(4), sum(5)]).toEqual([calls, failed, calls - 1]);
});
