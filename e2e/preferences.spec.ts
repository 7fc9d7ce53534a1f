import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { operator } from './running-system.ts';

/** What a person prefers holds at once, after a reload, and in a browser that never saw it (70 §13). */
const person = { email: 'prefers@example.com', password: 'a chair by the window, please' };
const slug = 'preferers';

test('shortcuts of a single key are switched off, the theme, the clock and the first page chosen; another browser follows', async ({
  page,
  browser,
}) => {
  test.setTimeout(120_000);
  await operator(['create-tenant', '--slug', slug, '--plan', 'pro', '--owner-email', person.email, '--owner-password', person.password]);
  await signIn(page, person, slug);
  await page.goto('/me/preferences');
  const kept = () => page.waitForResponse((response) => response.url().endsWith('/auth/me') && response.request().method() === 'PATCH');
  const choose = async (act: () => Promise<unknown>) => {
    const answer = kept();
    await act();
    expect((await answer).status()).toBe(200);
  };
  await choose(() => page.getByRole('radio', { name: 'Dark' }).click());
  await choose(() => page.getByRole('radio', { name: 'In UTC' }).click());
  await choose(() => page.getByRole('switch', { name: 'Shortcuts of a single key' }).click());
  await page.getByRole('combobox', { name: 'Page' }).click();
  await choose(() => page.getByRole('option', { name: 'Secrets' }).click());
  await accessible(page);

  // Off at once: neither a key, nor a sequence; with Ctrl they go on working.
  await page.locator('body').click({ position: { x: 1, y: 1 } });
  await page.keyboard.press('?');
  await page.keyboard.press('~');
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Developer pane' })).toHaveCount(0);
  await expect(page).toHaveURL(/\/me\/preferences$/);
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog', { name: 'Command palette' })).toBeVisible();
  await page.keyboard.press('Escape');

  const context = await browser.newContext();
  const other = await context.newPage();
  await signIn(other, person, slug);
  await expect(other).toHaveURL(new RegExp(`/${slug}/(test|live)/secrets$`));
  await expect(other.locator('html')).toHaveAttribute('data-theme', 'dark');
  await other.keyboard.press('?');
  await expect(other.getByRole('dialog')).toHaveCount(0);
  await context.close();
});

test('the security page changes the password and leads to the sessions', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto('/me/security');
  await expect(page.getByRole('button', { name: 'Change password' })).toBeVisible();
  await page.getByRole('link', { name: 'See your sessions' }).click();
  await expect(page.getByRole('heading', { name: 'Sessions', level: 1 })).toBeVisible();
});
