import { expect, type Page, test } from '@playwright/test';
import { accessible, fillIn, signIn } from './person.ts';
import { createWorkspace, unique } from './running-system.ts';

/** 70 §3.5: what was typed and not saved is offered back; what may be a credential never touches a storage. */
const slug = unique('drafts');
const person = { email: `owner@${slug}.example`, password: 'seven pages torn in half' };
const settings = `/${slug}/test/routes/echo?tab=settings`;
const nameOf = (page: Page) => page.getByRole('textbox', { name: 'Name', exact: true });
const offer = (page: Page) => page.getByText(/^You left unsaved changes/);
const keptIn = (page: Page) => page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }));

test.beforeAll(async () => {
  await createWorkspace(slug, person);
});

test.beforeEach(async ({ page }) => {
  page.on('dialog', (dialog) => void dialog.accept());
  await signIn(page, person, slug);
});

test('a form that was left with a reload offers its text back, and a saved one offers nothing', async ({ page }) => {
  await page.goto(settings);
  await expect(nameOf(page)).not.toHaveValue('');
  await nameOf(page).fill('Echo, half renamed');
  await page.reload();
  await expect(offer(page)).toBeVisible();
  await expect(nameOf(page)).not.toHaveValue('Echo, half renamed');
  await accessible(page);
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(nameOf(page)).toHaveValue('Echo, half renamed');
  await expect(offer(page)).toBeHidden();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Echo, half renamed' })).toBeVisible();
  expect(await keptIn(page)).not.toContain('draft:');
  await page.reload();
  await expect(nameOf(page)).toHaveValue('Echo, half renamed');
  await expect(offer(page)).toHaveCount(0);
});

test('a draft outlives an ended session, is discarded on request, and is gone at sign-out', async ({ page }) => {
  await page.goto(settings);
  await expect(nameOf(page)).not.toHaveValue('');
  const before = await nameOf(page).inputValue();
  await nameOf(page).fill('Typed before the session ended');
  await expect.poll(() => keptIn(page)).toContain('Typed before the session ended');
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('You’re signed out, so nothing was saved')).toBeVisible();
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/signin?**');
  await fillIn(page, person);
  await page.waitForURL(`**${settings}`);
  await expect(offer(page)).toBeVisible();
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect(offer(page)).toBeHidden();
  await expect(nameOf(page)).toHaveValue(before);
  await page.reload();
  await expect(nameOf(page)).toHaveValue(before);
  await expect(offer(page)).toHaveCount(0);

  await nameOf(page).fill('Typed before signing out');
  await expect.poll(() => keptIn(page)).toContain('Typed before signing out');
  await page.getByRole('button', { name: /^Your account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL('**/signin');
  expect(await keptIn(page)).not.toContain('Typed before');
});

test('the configuration of a route comes back with its conflict, and headers are never stored', async ({ page }) => {
  await page.goto(`/${slug}/test/routes/echo?tab=config`);
  await page.getByLabel('Timeout').fill('12000');
  await page.getByRole('link', { name: 'Configuration', exact: true }).click();
  await page.getByRole('button', { name: 'Add header' }).click();
  // A value without a name is not saved without it: the credential would be missing from every call.
  await page.getByLabel('Value of new header').fill('hunter2hunter2');
  await expect(page.getByText('Enter a header name or delete the row.')).toBeVisible();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('unsaved changes')).toBeVisible();
  await page.getByLabel('Name of new header').fill('X-Plain-Name');
  await page.getByLabel('Value of X-Plain-Name').fill('hunter2hunter2');
  await expect(page.getByText('2 unsaved changes')).toBeVisible();
  expect(await keptIn(page)).toContain('12000');
  expect(await keptIn(page)).not.toContain('hunter2');

  const other = await page.context().newPage();
  await other.goto(`/${slug}/test/routes/echo?tab=config`);
  await other.getByLabel('Timeout').fill('9000');
  await other.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(other.getByText(/^Saved/).first()).toBeVisible();
  expect(await keptIn(other), 'a draft belongs to its tab').not.toContain('12000');

  await page.goto(`/${slug}/test/routes/echo`);
  await expect(offer(page)).toBeVisible();
  await expect(page.getByText(/Not saved, because it may contain a credential/)).toBeVisible();
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByRole('link', { name: 'Configuration', exact: true }).click();
  await expect(page.getByLabel('Timeout')).toHaveValue('12000');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const panel = page.getByRole('region', { name: 'Someone else saved changes while you were editing' });
  await expect(panel).toContainText('9,000');
  await panel.getByRole('button', { name: 'Save selection' }).click();
  await expect(panel).toBeHidden();
  await expect(page.getByLabel('Timeout')).toHaveValue('12000');
  await expect.poll(() => keptIn(page)).not.toContain('draft:');
});

test('a sheet that is closed over what was typed keeps it; the value of a secret is kept nowhere', async ({ page }) => {
  await page.goto(`/${slug}/test/environments`);
  await page.getByRole('button', { name: 'New environment' }).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('staging');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'New environment' }).first().click();
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('staging');
  await page.getByRole('button', { name: 'Create environment' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  expect(await keptIn(page)).not.toContain('draft:');

  await page.goto(`/${slug}/test/secrets`);
  await page.getByRole('button', { name: 'New secret' }).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('UPSTREAM_KEY');
  await page
    .getByLabel(/^Value/)
    .first()
    .fill('plain-looking-value-1234');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  expect(await keptIn(page)).not.toContain('plain-looking');
});

test('the defaults of a collection come back after a wrong turn', async ({ page }) => {
  await page.goto(`/${slug}/test/collections`);
  await page.getByRole('button', { name: 'New collection' }).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Shared');
  await page.getByRole('button', { name: 'Create collection' }).click();
  await page.waitForURL(/collections\/[0-9a-f-]{36}/);
  await page.goto(`${page.url().split('?')[0]}?tab=environments`);
  const base = page.getByLabel(/base url/i).first();
  await page.getByRole('checkbox').first().click();
  await base.fill('https://shared.example.com');
  await page
    .getByRole('main')
    .getByRole('link', { name: /^Variables/ })
    .click();
  await expect(base).toHaveCount(0);
  await page
    .getByRole('main')
    .getByRole('link', { name: /^Environments/ })
    .click();
  await expect(offer(page)).toBeVisible();
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(base).toHaveValue('https://shared.example.com');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText(/^Saved/).first()).toBeVisible();
  await expect.poll(() => keptIn(page)).not.toContain('draft:');
});
