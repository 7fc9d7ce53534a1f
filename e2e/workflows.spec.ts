import { expect, type Page, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, startUpstream, type Upstream, unique } from './running-system.ts';

/** E2: a workflow that is built in the editor is started by a real failure of a call, and posts to a receiver with a secret. */
const slug = unique('orchestra');
const person = { email: `owner@${slug}.example`, password: 'nine batons in the drawer' };
const TOKEN = 'the-chat-token-of-the-journey';

let failing: Upstream;
let receiver: Upstream;
let key = '';
const api = () => `${setting('E2E_SANDBOX_API_URL')}/v1`;
const make = async (path: string, body: object) => {
  const made = await json(api() + path, { key, body });
  expect(made.status, made.text).toBeLessThan(300);
  return made.body.data as { id: string };
};

test.beforeAll(async () => {
  await createWorkspace(slug, person);
  key = (await operator(['create-key', '--slug', slug, '--space', 'test'])).api_key ?? '';
  failing = await startUpstream((_, res) => void res.writeHead(503, { 'content-type': 'application/json' }).end('{"busy":true}'));
  receiver = await startUpstream();
});
test.afterAll(() => {
  failing.close();
  receiver.close();
});

const dark = (page: Page) => page.emulateMedia({ colorScheme: 'dark' });
const saved = (page: Page) => expect(page.getByRole('status').filter({ hasText: 'Draft saved' })).toBeVisible();

test('E2: a workflow started by a real 5xx event posts to a receiver with a secret injected', async ({ page }) => {
  await make('/secrets', { name: 'CHAT_TOKEN', value: TOKEN });
  const route = await make('/routes', { name: 'Orders', target_base_url: failing.url });

  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/workflows`);
  await accessible(page, 'without workflows');
  await page.getByRole('button', { name: 'Begin with it: Blank' }).click();
  const sheet = page.getByRole('dialog', { name: 'New workflow' });
  await sheet.getByRole('textbox', { name: 'Name' }).fill('Tell the chat');
  await accessible(page, 'a new workflow');
  await sheet.getByRole('button', { name: 'Create workflow' }).click();
  await page.waitForURL(/\/workflows\/[0-9a-f-]{36}$/);

  // The canvas comes once the page has settled; until then the steps are a list.
  const canvas = page.getByRole('application', { name: 'Steps of Tell the chat' });
  await expect(canvas).toBeVisible();
  await canvas.getByText('By hand or by the API').click();
  const trigger = page.getByRole('complementary', { name: 'Settings of Start' });
  await trigger.getByRole('combobox', { name: 'Starts with' }).click();
  await page.getByRole('option', { name: 'A call of a route' }).click();
  await expect(trigger.getByRole('checkbox', { name: 'Server error (5xx)' })).toBeChecked();
  await accessible(page, 'the trigger');

  // A field that replaces its stand-in behind an open dialog isn't hidden from assistive technology with the rest of the page, so it must be there first.
  await expect(trigger.getByRole('combobox', { name: 'Routes' })).toHaveAttribute('aria-autocomplete', 'list');
  // With the pointer from the trigger's outlet, then by the keyboard alone.
  await canvas.getByRole('button', { name: 'Add a step after Start' }).click();
  const palette = page.getByRole('dialog', { name: 'Add a step' });
  await expect(palette.getByRole('combobox', { name: 'Find a step' })).toBeFocused();
  await accessible(page, 'the palette');
  await page.keyboard.type('http');
  await page.keyboard.press('Enter');
  const step = page.getByRole('complementary', { name: 'Settings of HTTP request' });
  await expect(step).toBeVisible();
  await expect(step.getByText('url is required').first()).toBeVisible();
  await step.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}/hook`);
  await step.getByRole('button', { name: 'Add header' }).click();
  await page.keyboard.type('Authorization');
  await page.keyboard.press('Enter');
  const header = step.getByRole('textbox', { name: 'Value of Authorization' });
  await header.fill('Bearer ');
  await header.pressSequentially('{{CHAT');
  await expect(page.getByRole('option', { name: /secret:CHAT_TOKEN/ })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(header).toHaveValue('Bearer {{secret:CHAT_TOKEN}}');
  await step
    .getByRole('textbox', { name: 'JSON' })
    .fill('{"text": "{{trigger.data.route_name}} answered {{trigger.data.response.status}}"}');
  await expect(step.getByText('url is required')).toHaveCount(0);
  await accessible(page, 'a step');
  await saved(page);

  // One step too many, copied, taken back, and brought again: the graph says so each time.
  const steps = canvas.locator('.react-flow__node');
  await expect(steps).toHaveCount(2);
  await page.keyboard.press('Escape');
  await canvas.getByText(`POST ${receiver.url.replace('http://', '')}/hook`).click();
  await page.keyboard.press('Escape');
  await canvas.getByText(`POST ${receiver.url.replace('http://', '')}/hook`).click();
  await page.keyboard.press('ControlOrMeta+d');
  await expect(steps).toHaveCount(3);
  await page.keyboard.press('ControlOrMeta+z');
  await expect(steps).toHaveCount(2);
  await page.keyboard.press('ControlOrMeta+Shift+z');
  await expect(steps).toHaveCount(3);
  await page.keyboard.press('ControlOrMeta+z');
  await expect(steps).toHaveCount(2);
  await saved(page);

  await page.getByRole('button', { name: /^Publish/ }).click();
  const publish = page.getByRole('dialog', { name: 'Publish the draft?' });
  await expect(publish.getByText('To consider')).toBeVisible();
  await accessible(page, 'publishing');
  await publish.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByText(/^Version \d+ is live$/)).toBeVisible();
  await expect(page.getByRole('switch', { name: 'Enabled' })).toBeChecked();

  const proxy = `http://127.0.0.1:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}`;
  expect((await json(`${proxy}/${route.id}/orders`, { key })).status).toBe(503);
  await expect.poll(() => receiver.seen.length).toBe(1);
  const [sent] = receiver.seen;
  expect([sent?.method, sent?.url, sent?.headers.authorization]).toEqual(['POST', '/hook', `Bearer ${TOKEN}`]);
  expect(JSON.parse(sent?.body ?? '')).toEqual({ text: 'Orders answered 503' });
  expect(sent?.headers['idempotency-key']).toMatch(/^wf_/);

  await page.goto(`/${slug}/test/runs`);
  const row = page.getByRole('row', { name: /Completed/ });
  await expect(async () => {
    await page.reload();
    await expect(row).toBeVisible({ timeout: 10_000 });
  }).toPass();
  await accessible(page, 'the runs');
  await row.getByRole('link').first().click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
  const run = page.getByRole('application', { name: 'Steps of the run of Tell the chat' });
  await expect(run.getByRole('img', { name: 'Succeeded' }).last()).toBeVisible();
  await dark(page);
  await expect.poll(() => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark');
  await accessible(page, 'a run');
  await page
    .getByRole('listitem')
    .getByRole('button', { name: /http_1|HTTP request/ })
    .last()
    .click();
  const told = page.getByRole('complementary', { name: /^Run of / });
  await expect(told.getByText('[secret:CHAT_TOKEN]').first()).toBeVisible();
  await accessible(page, 'a step of a run');
  expect(await page.content()).not.toContain(TOKEN);
  expect((await json(`${api()}/workflows/executions/${page.url().split('/').at(-1)?.split('?')[0]}`, { key })).text).not.toContain(TOKEN);
});

test('two people at one draft are told, and a phone looks on', async ({ page }) => {
  const { id } = await make('/workflows', { name: 'Shared score', definition: {} });
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/workflows/${id}`);
  await expect(page.getByRole('application')).toBeVisible();
  const other = await page.context().newPage();
  await other.goto(`/${slug}/test/workflows/${id}`);
  await expect(other.getByRole('application')).toBeVisible();
  const add = async (tab: Page, kind: string) => {
    await tab.keyboard.press('/');
    await expect(tab.getByRole('combobox', { name: 'Find a step' })).toBeFocused();
    await tab.keyboard.type(kind);
    await tab.keyboard.press('Enter');
  };
  await add(other, 'email');
  await saved(other);
  await other.close();
  await add(page, 'delay');
  await expect(page.getByText(/saved this draft too/)).toBeVisible();
  await accessible(page, 'a conflict');
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await saved(page);
  await expect(page.getByText(/saved this draft too/)).toHaveCount(0);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.reload();
  await expect(page.getByText('Workflows are edited in a wider window')).toBeVisible();
  await expect(page.getByRole('list', { name: 'Steps' }).getByRole('button')).toHaveCount(2);
  await expect(page.getByRole('button', { name: 'Add step' })).toHaveCount(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await accessible(page, 'on a phone');
});
