import { expect, type Page, test } from '@playwright/test';
import { accessible, hydrated, signIn } from './person.ts';
import { createWorkspace, query, unique } from './running-system.ts';

/** Interface rule 22 §5.4: what takes a sign-in of the last 12 hours has a way on in the page that was refused, which keeps what was typed. */
const slug = unique('sign-in-again');
const person = { email: `owner@${slug}.example`, password: 'a lantern at the second gate' };
const other = { email: `owner@${slug}-b.example`, password: 'a lantern at the third gate' };

test.beforeAll(async () => {
  await createWorkspace(slug, person);
  await createWorkspace(`${slug}-b`, other);
});

/** As if its person had signed in so long ago. */
const agesSessions = (email: string) =>
  query("update sessions set created_at = created_at - interval '13 hours' where user_id = (select id from users where email = $1)", [
    email,
  ]);

/** The tab that the dialog opened, up to its last page. */
async function signInThere(page: Page, { email, password }: { email: string; password: string }): Promise<Page> {
  const [tab] = await Promise.all([page.context().waitForEvent('page'), page.getByRole('link', { name: 'Sign in again' }).click()]);
  await hydrated(tab);
  await expect(tab.getByRole('heading', { level: 1, name: 'Sign in again' })).toBeVisible();
  await accessible(tab, 'the page that signs in again');
  if (email !== person.email) await tab.goto(`/signin?${new URLSearchParams({ next: '/signin/again', email })}`);
  await tab.getByLabel('Password', { exact: true }).fill(password);
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(tab.getByRole('heading', { level: 1, name: 'You’re signed in' })).toBeVisible();
  return tab;
}

test('a refused form signs in again in another tab, keeps what was typed, and goes on', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/api-keys?open=new`);
  const sheet = page.getByRole('dialog', { name: 'New API key' });
  await sheet.getByLabel('Name', { exact: true }).fill('Typed before');
  await agesSessions(person.email);
  await page.keyboard.press('ControlOrMeta+Enter');
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await expect(dialog).toContainText('more than 12 hours old');
  await expect(dialog.getByRole('link', { name: 'Sign in again' })).toBeFocused();
  await accessible(page, 'the dialog');

  await test.step('cancelling says that nothing was done, and leaves the form', async () => {
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    await expect(sheet).toContainText('You didn’t sign in again, so nothing was done.');
    await expect(sheet.getByLabel('Name', { exact: true })).toHaveValue('Typed before');
    await sheet.getByRole('button', { name: 'Create key' }).click();
  });
  await test.step('another account is not taken for this one', async () => {
    await signInThere(page, other);
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await expect(dialog).toContainText(`You’re signed in as ${other.email} now. Sign in again as ${person.email}.`);
  });
  await test.step('the call goes on with the new session, and so does the page', async () => {
    const tab = await signInThere(page, person);
    await accessible(tab, 'the last page');
    await tab.close();
    await expect(dialog.getByRole('button', { name: 'Try again' })).toBeFocused();
    await accessible(page, 'the dialog afterwards');
    await page.keyboard.press('Enter');
    await expect(page.getByText('Typed before').first()).toBeVisible();
    await expect(sheet).toBeHidden();
    await expect(page.getByText(/tk_test_/).first()).toBeVisible();
  });
});

test('a sign-in that is still the old one is told from a new one, and later changes carry the new session', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/api-keys?open=new`);
  const sheet = page.getByRole('dialog', { name: 'New API key' });
  await sheet.getByLabel('Name', { exact: true }).fill('First');
  await agesSessions(person.email);
  await sheet.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  const [tab] = await Promise.all([page.context().waitForEvent('page'), dialog.getByRole('link', { name: 'Sign in again' }).click()]);
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await expect(dialog).toContainText('You haven’t signed in again yet.');
  await tab.getByLabel('Password', { exact: true }).fill(person.password);
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(tab.getByRole('heading', { level: 1, name: 'You’re signed in' })).toBeVisible();
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await expect(sheet).toBeHidden();
  await page.getByRole('checkbox', { name: 'I saved the API key somewhere safe' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'New key' }).first().click();
  await sheet.getByLabel('Name', { exact: true }).fill('Second');
  const answer = page.waitForResponse((response) => response.url().includes('apiKeys.create'));
  await sheet.getByRole('button', { name: 'Create key' }).click();
  expect((await answer).status(), 'no stale CSRF token').toBe(200);
});
