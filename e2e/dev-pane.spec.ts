import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, operator, unique } from './running-system.ts';

/** The developer pane: what a page calls, in terms of the API, and nothing secret of it (70 §11). */
const slug = unique('panes');
const person = { email: `owner@${slug}.example`, password: 'glass in front of the calls' };

test('the pane shows the calls of a page as the API has them, keeps its place, leads on, and never shows what a secret field held', async ({
  page,
}) => {
  await createWorkspace(slug, person);
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/secrets`);
  await expect(page.getByRole('heading', { name: 'Secrets', level: 1 })).toBeVisible();
  const button = page.getByRole('button', { name: 'Developer pane' });
  await page.keyboard.press('~');
  await expect(button).toHaveAttribute('aria-expanded', 'true');
  const pane = page.getByRole('region', { name: 'Developer pane' });
  // Asked by the server for the first paint, before any script ran here.
  await expect(pane.getByRole('button', { name: /GET \/secrets\?/ })).toBeVisible();

  const canary = 'canary-5b1d-never-in-a-pane';
  await page.getByRole('button', { name: 'New secret' }).first().click();
  const sheet = page.getByRole('dialog');
  await sheet.getByLabel('Name').fill('PANE_SECRET');
  await sheet
    .getByLabel(/^Value/)
    .first()
    .fill(canary);
  await sheet.getByRole('button', { name: /^Store|^Create|^Save/ }).click();
  // Done, it goes on to what it made; the change that led there stays in view.
  await expect(page.getByRole('heading', { name: 'PANE_SECRET', level: 1 })).toBeVisible();
  const made = pane.getByRole('button', { name: /POST \/secrets/ });
  await made.click();
  await expect(pane.getByRole('link', { name: 'Open in API explorer' })).toBeVisible();
  await expect(pane.getByText('PANE_SECRET').last()).toBeVisible();
  for (const language of ['Node', 'Python', 'curl']) {
    await pane.getByRole('button', { name: language, exact: true }).click();
    expect(await page.content()).not.toContain(canary);
  }
  await accessible(page);

  // The height moves by keyboard and both are there after a reload.
  const edge = pane.getByRole('separator');
  const height = async () => Number(await edge.getAttribute('aria-valuenow'));
  const before = await height();
  await edge.focus();
  await page.keyboard.press('ArrowUp');
  await expect.poll(height).toBe(before + 40);
  const audit = await pane.getByRole('link', { name: /audit entries/ }).getAttribute('href');
  const explorer = await pane.getByRole('link', { name: 'Open in API explorer' }).getAttribute('href');
  expect(`${audit}${explorer}`).not.toContain(canary);
  await page.reload();
  await expect(pane).toBeVisible();
  expect(await height()).toBe(before + 40);

  await page.goto(audit ?? '');
  await expect(page.getByText(/^Request [0-9a-f]{8}$/)).toBeVisible();
  await expect(page.getByRole('row', { name: /PANE_SECRET/ })).toBeVisible();
  await page.goto(explorer ?? '');
  await expect(page.getByRole('textbox', { name: 'name' })).toHaveValue('PANE_SECRET');
  await expect(page.getByLabel('value', { exact: true })).toHaveValue('');
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(kept).not.toContain(canary);

  // Escape inside closes it and the focus is on its button.
  await pane.getByRole('separator').focus();
  await page.keyboard.press('Escape');
  await expect(pane).toHaveCount(0);
  await expect(button).toBeFocused();
});

test('the inspector says what a pasted id is and leads there; of a pasted key nothing leaves the page', async ({ page }) => {
  const { id, key_id, api_key: key = '' } = await operator(['create-key', '--slug', slug, '--space', 'test', '--name', 'looked for']);
  await signIn(page, person, slug);
  await page.goto(`/${slug}/live/secrets`);
  await page.getByRole('button', { name: 'Developer pane' }).click();
  const pane = page.getByRole('region', { name: 'Developer pane' });
  await pane.getByRole('radio', { name: 'Inspector' }).click();
  const field = pane.getByRole('textbox', { name: 'Resource ID' });
  const sent: string[] = [];
  page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));

  await field.fill('01a00000-0000-7000-8000-000000000000');
  await expect(pane.getByText('No resource found')).toBeVisible();
  await field.fill(key);
  await expect(pane.getByText('That looks like a credential')).toBeVisible();
  expect((await field.inputValue()).length).toBeLessThanOrEqual(8);
  await field.fill(String(key_id));
  await expect(pane.getByText('API key')).toBeVisible();
  await accessible(page);

  // The shell: the same API as a line, as this person and in this space. A secret is asked for, and nothing of it stays.
  await pane.getByRole('radio', { name: 'Shell' }).click();
  const line = pane.getByRole('combobox', { name: 'Command, in Live' });
  await line.fill('secr');
  await line.press('Tab');
  await expect(line).toHaveValue('secrets ');
  await line.press('Tab');
  await expect(pane.getByRole('listbox')).toBeVisible();
  await line.press('Shift+Tab');
  await expect(pane.getByRole('listbox')).toHaveCount(0);
  expect(await page.evaluate(() => document.activeElement?.closest('[aria-label="Developer pane"]') !== null)).toBe(true);
  const canary = 'canary-9c4e-never-in-a-shell';
  await line.fill(`secrets create --name SHELL_SECRET --value ${canary}`);
  await line.press('Enter');
  const hidden = pane.getByLabel('secrets create: value');
  await hidden.fill(`${canary}-typed`);
  await hidden.press('Enter');
  await page.getByRole('button', { name: 'Send in Live' }).click();
  await expect(pane.getByText('201 in')).toBeVisible();
  await expect(line).toBeFocused();
  await line.press('ArrowUp');
  await expect(line).toHaveValue('secrets create --name SHELL_SECRET --value -');
  await line.fill('secrets get SHELL_SECRET');
  await line.press('Enter');
  await expect(pane.getByText('200 in')).toBeVisible();
  await accessible(page);
  // A name that can't be looked up is not sent as it stands: what went wrong is said, also while it is being completed.
  const lookups = /\/admin\/trpc\/[^?]*\bsecrets\.list\b/;
  await page.route(lookups, (route) => route.abort());
  await line.fill('secrets get SHELL_SECRET');
  await line.press('Enter');
  await expect(pane.getByText('Not sent: Names couldn’t be looked up.')).toBeVisible();
  await line.fill('secrets get SHELL_S');
  await line.press('Tab');
  await expect(pane.getByRole('alert')).toContainText('Names couldn’t be looked up.');
  await accessible(page);
  await page.unroute(lookups);
  await line.press('Tab');
  await expect(line).toHaveValue('secrets get SHELL_SECRET ');
  await expect(pane.getByRole('alert')).toHaveCount(0);
  const left = await page.evaluate(() => JSON.stringify([document.documentElement.outerHTML, { ...localStorage }, { ...sessionStorage }]));
  expect(left).toContain('SHELL_SECRET');
  expect(left).not.toContain(canary);
  expect(sent.filter((one) => one.includes(`${canary}"`))).toEqual([]);

  // A key that is shown once is handed over wherever its person is by then; the answer waits in the shell.
  const held = Promise.withResolvers<void>();
  await page.route('**/admin/explorer/send', (route) => held.promise.then(() => route.continue()));
  await line.fill('api-keys create --name held');
  await line.press('Enter');
  await page.getByRole('button', { name: 'Send in Live' }).click();
  await pane.getByRole('button', { name: 'Close developer pane' }).click();
  await page.getByRole('link', { name: 'Usage' }).click();
  await expect(page).toHaveURL(new RegExp(`/${slug}/settings/usage`));
  const asks = () => page.evaluate(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })));
  expect(await asks()).toBe(true);
  held.resolve();
  const card = page.getByRole('dialog', { name: 'Your API key' });
  const once = await card.getByText(/^tk_live_/).innerText();
  await card.getByRole('checkbox').click();
  await card.getByRole('button', { name: 'Done' }).click();
  await expect(card).toHaveCount(0);
  expect(await asks()).toBe(false);
  await page.getByRole('button', { name: 'Developer pane' }).click();
  await pane.getByRole('radio', { name: 'Shell' }).click();
  await expect(pane.getByText('(shown once, separately)')).toBeVisible();
  const after = await page.evaluate(() => JSON.stringify([document.documentElement.outerHTML, { ...localStorage }, { ...sessionStorage }]));
  expect(after).not.toContain(once.slice(-20));
  await pane.getByRole('button', { name: 'Inspect' }).first().click();
  await expect(pane.getByRole('link', { name: 'SHELL_SECRET' })).toBeVisible();

  await field.fill(String(id));
  await pane.getByRole('link', { name: 'looked for' }).click();
  await expect(page).toHaveURL(new RegExp(`/${slug}/test/api-keys\\?peek=${id}`));
  expect(sent.filter((one) => one.includes(key.slice(-40)))).toEqual([]);
});
