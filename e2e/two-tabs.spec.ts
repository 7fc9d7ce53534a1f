import { type Browser, expect, type Page, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, setting, unique } from './running-system.ts';

/** 70 §15 item 5: two tabs that edit one route. A workspace of its own, made as an operator makes it. */
const slug = unique('two-tabs');
const person = { email: `owner@${slug}.example`, password: 'two hands on one tiller' };

test.beforeAll(async () => {
  await createWorkspace(slug, person);
});

async function twoTabs(browser: Browser): Promise<[Page, Page]> {
  const context = await browser.newContext({ baseURL: setting('E2E_ADMIN_URL') });
  const [one, two] = [await context.newPage(), await context.newPage()];
  await signIn(one, person, slug);
  return [one, two];
}

const save = async (page: Page) => {
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
};
const saved = (page: Page) => expect(page.getByText(/^Saved/).first()).toBeVisible();

test('two tabs that edit one route: the later sees both versions, chooses per field, and nobody’s work is lost', async ({ browser }) => {
  const [one, two] = await twoTabs(browser);
  const settings = `/${slug}/test/routes/echo?tab=settings`;
  for (const tab of [one, two]) {
    await tab.goto(settings);
    await expect(tab.getByRole('textbox', { name: 'Name', exact: true })).not.toHaveValue('');
  }
  await one.getByRole('textbox', { name: 'Name', exact: true }).fill('Echo of the first tab');
  await two.getByRole('textbox', { name: 'Name', exact: true }).fill('Echo of the second tab');
  await save(one);
  await saved(one);

  const answer = two.waitForResponse((response) => response.url().includes('routes.update'));
  await save(two);
  expect((await answer).status()).toBe(409);
  const panel = two.getByRole('region', { name: 'Someone else saved changes while you were editing' });
  await expect(panel).toBeVisible();
  await expect(panel).toContainText('Echo of the first tab');
  await expect(panel).toContainText('Echo of the second tab');
  await expect(two.getByRole('textbox', { name: 'Name', exact: true }), 'what was typed stays').toHaveValue('Echo of the second tab');
  await accessible(two);

  await panel.getByRole('radio', { name: /theirs/i }).click();
  await panel.getByRole('button', { name: 'Save selection' }).click();
  await expect(panel).toBeHidden();
  await expect(two.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('Echo of the first tab');

  // Once more, keeping one's own: the first tab has not reloaded and now is the late one.
  await two.getByRole('textbox', { name: 'Name', exact: true }).fill('Second again');
  await save(two);
  await expect(two.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('Second again');
  await expect(two.getByRole('heading', { level: 1, name: 'Second again' })).toBeVisible();
  await one.getByRole('textbox', { name: 'Name', exact: true }).fill('First again');
  await save(one);
  await one.getByRole('button', { name: 'Save selection' }).click();
  await expect(one.getByRole('heading', { level: 1, name: 'First again' })).toBeVisible();
  await one.context().close();
});

test('what the other tab changed elsewhere on the route is no conflict of this form', async ({ browser }) => {
  const [one, two] = await twoTabs(browser);
  await two.goto(`/${slug}/test/routes/echo?tab=settings`);
  await expect(two.getByRole('textbox', { name: 'Name', exact: true })).not.toHaveValue('');
  await two.getByRole('textbox', { name: 'Name', exact: true }).fill('Only the name');
  await one.goto(`/${slug}/test/routes/echo?tab=config`);
  await one.getByLabel('Timeout').fill('12000');
  await save(one);
  await saved(one);
  await save(two);
  await expect(two.getByRole('heading', { level: 1, name: 'Only the name' })).toBeVisible();
  await expect(two.getByText('Someone else saved changes while you were editing')).toHaveCount(0);
  await one.context().close();
});

test('a variable of a collection that both changed is asked about, and taking theirs saves nothing', async ({ browser }) => {
  const [one, two] = await twoTabs(browser);
  await one.goto(`/${slug}/test/collections`);
  await one.getByRole('button', { name: 'New collection' }).first().click();
  await one.getByRole('textbox', { name: 'Name', exact: true }).fill('Shared');
  await one.getByRole('button', { name: 'Create collection' }).click();
  await one.waitForURL(/collections\/[0-9a-f-]{36}/);
  const variables = `${one.url().split('?')[0]}?tab=variables`;
  await one.goto(variables);
  await one.getByRole('button', { name: 'New variable' }).first().click();
  await one.getByRole('textbox', { name: 'Key' }).fill('region');
  await one.getByRole('textbox', { name: 'Value' }).fill('eu');
  await save(one);
  await two.goto(variables);
  for (const tab of [one, two]) await tab.getByText('region', { exact: true }).first().click();
  await two.getByRole('textbox', { name: 'Value' }).fill('us');
  await one.getByRole('textbox', { name: 'Value' }).fill('ap');
  await save(one);
  await expect(one.getByRole('dialog')).toBeHidden();

  // What arrives behind an open form is not typed over what stands in it.
  await two.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await expect(two.getByRole('textbox', { name: 'Value' })).toHaveValue('us');
  await save(two);
  const panel = two.getByRole('region', { name: 'Someone else saved changes while you were editing' });
  await expect(panel).toContainText('ap');
  await panel.getByRole('radio', { name: /theirs/i }).click();
  let sent = 0;
  two.on('request', (request) => {
    if (request.url().includes('updateVariable')) sent++;
  });
  await panel.getByRole('button', { name: 'Save selection' }).click();
  await expect(two.getByRole('dialog')).toBeHidden();
  await expect(two.getByText('ap', { exact: true })).toBeVisible();
  expect(sent).toBe(0);
  await one.context().close();
});
