import { expect, test } from '@playwright/test';
import sharp from 'sharp';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, unique } from './running-system.ts';

/** What a person prefers holds at once, after a reload, and in a browser that never saw it (70 §13). */
const slug = unique('preferers');
const person = { email: `owner@${slug}.example`, password: 'a chair by the window, please' };

test('shortcuts of a single key are switched off, the theme, the clock and the first page chosen; another browser follows', async ({
  page,
  browser,
}) => {
  await createWorkspace(slug, person);
  await signIn(page, person, slug);
  await page.goto('/me/preferences');
  const kept = () => page.waitForResponse((response) => response.url().endsWith('/auth/me') && response.request().method() === 'PATCH');
  const choose = async (act: () => Promise<unknown>) => {
    const answer = kept();
    await act();
    expect((await answer).status()).toBe(200);
  };
  await choose(() => page.getByRole('radio', { name: 'Dark' }).click());
  await choose(() => page.getByRole('radio', { name: 'UTC' }).click());
  await choose(() => page.getByRole('switch', { name: 'Single-key shortcuts' }).click());
  await page.getByRole('combobox', { name: 'Page', exact: true }).click();
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

test('a photo is chosen, looked at, used and taken down; the top bar shows it, and what is no picture is refused in words', async ({
  page,
}) => {
  await signIn(page, person, slug);
  await page.goto('/me/profile');
  const face = page.getByRole('button', { name: /^Your account/ }).locator('img');
  const choose = (buffer: Buffer) => page.locator('input[type=file]').setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer });
  await choose(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
  await expect(page.getByText('this is an SVG')).toBeVisible();
  await choose(
    await sharp({ create: { width: 90, height: 60, channels: 3, background: 'teal' } })
      .png()
      .toBuffer(),
  );
  await expect(page.getByText('Preview. Save to use this photo.')).toBeVisible();
  await expect(face).toHaveCount(0);
  await accessible(page);
  await page.getByRole('button', { name: 'Save photo' }).click();
  await expect(face).toHaveJSProperty('naturalWidth', 256);
  await page.getByRole('button', { name: 'Remove' }).click();
  await expect(face).toHaveCount(0);
});

test('pages are pinned and groups folded and moved, by keyboard too; another browser has the same rail, and the palette begins with the pins', async ({
  page,
  browser,
}) => {
  await signIn(page, person, slug);
  await page.goto('/me/preferences');
  const rail = page.getByRole('navigation', { name: 'Pages' });
  const kept = async (act: () => Promise<unknown>) => {
    const answer = page.waitForResponse((response) => response.url().endsWith('/auth/me') && response.request().method() === 'PATCH');
    await act();
    expect((await answer).status()).toBe(200);
  };
  await rail.getByRole('button', { name: 'Pin Logs to the top' }).focus();
  await kept(() => page.keyboard.press('Enter'));
  // The row stands elsewhere now; the keyboard is still on it.
  await expect(rail.getByRole('button', { name: 'Unpin Logs' })).toBeFocused();
  await rail.getByRole('link', { name: 'Audit' }).hover();
  await kept(() => rail.getByRole('button', { name: 'Pin Audit to the top' }).click());
  await kept(() => page.getByRole('button', { name: 'Move Audit up' }).click());
  await expect(page.getByRole('button', { name: 'Move Audit up' })).toBeFocused();
  await kept(() => rail.getByRole('button', { name: 'Settings', exact: true }).click());
  await expect(rail.getByRole('link', { name: 'Usage' })).toHaveCount(0);
  const order = page.getByRole('list', { name: 'Group order' });
  await kept(() => order.getByText('Developers').dragTo(order.getByText('Gateway', { exact: true })));
  await accessible(page);

  const context = await browser.newContext();
  const other = await context.newPage();
  await signIn(other, person, slug);
  const links = other.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  const first = ['Audit', 'Logs', 'Home', 'API keys', 'OAuth clients', 'API explorer', 'Quickstart', /Routes/];
  for (const [index, name] of first.entries()) await expect(links.nth(index)).toHaveText(name);
  const options = other.getByRole('dialog', { name: 'Command palette' }).getByRole('option');
  await other.keyboard.press('Control+k');
  await expect(options.nth(0)).toHaveText(/^Audit/);
  await expect(options.nth(1)).toHaveText(/^Logs/);
  // What is open is shown although its group is folded.
  await other.goto(`/${slug}/settings/usage`);
  await expect(links.filter({ hasText: 'Usage' })).toHaveAttribute('aria-current', 'page');
  await context.close();
});

test('Home cards can be hidden and moved, and stay that way after a reload', async ({ page }) => {
  const { api_key: key = '' } = await operator(['create-key', '--slug', slug, '--space', 'test', '--role', 'Key - Infrastructure']);
  const called = await json(`http://localhost:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}/echo/hello`, {
    headers: { 'x-svc-key': key },
  });
  expect(called.status).toBe(200);
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test`);
  const titles = page.getByRole('main').getByRole('heading', { level: 2 });
  await expect(titles).toHaveText([
    'Calls over time',
    'Recent requests',
    'Go live',
    'Busiest routes',
    'Getting started',
    'Usage',
    'What’s new',
    'Recent activity',
  ]);
  await page.getByRole('button', { name: 'Customize cards' }).click();
  const kept = async (act: () => Promise<unknown>) => {
    const answer = page.waitForResponse((response) => response.url().endsWith('/auth/me') && response.request().method() === 'PATCH');
    await act();
    expect((await answer).status()).toBe(200);
  };
  await kept(() => page.getByRole('switch', { name: 'Show Calls over time' }).click());
  await kept(() => page.getByRole('switch', { name: 'Show Getting started' }).click());
  await kept(() => page.getByRole('button', { name: 'Move Busiest routes up' }).press('Enter'));
  await kept(() => page.getByRole('button', { name: 'Move Recent activity up' }).press('Enter'));
  await kept(() => page.getByRole('button', { name: 'Move Recent activity up' }).press('Enter'));
  await accessible(page);
  await page.reload();
  await expect(titles).toHaveText(['Recent requests', 'Busiest routes', 'Go live', 'Recent activity', 'Usage', 'What’s new']);
  await page.getByRole('button', { name: 'Customize cards' }).click();
  await kept(() => page.getByRole('button', { name: 'Reset to default' }).click());
  await page.keyboard.press('Escape');
  await expect(titles).toHaveText([
    'Calls over time',
    'Recent requests',
    'Go live',
    'Busiest routes',
    'Getting started',
    'Usage',
    'What’s new',
    'Recent activity',
  ]);
});

test('the security page changes the password and leads to the sessions', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto('/me/security');
  await expect(page.getByRole('button', { name: 'Change password' })).toBeVisible();
  await page.getByRole('link', { name: 'View sessions' }).click();
  await expect(page.getByRole('heading', { name: 'Sessions', level: 1 })).toBeVisible();
});
