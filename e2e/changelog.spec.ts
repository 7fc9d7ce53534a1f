import { expect, test } from '@playwright/test';
import { CHANGELOG } from '#server/domain/changelog/entries.shared.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, unique } from './running-system.ts';

/** What is new is there for anybody, and who is signed in is told until they have looked (64 §9). */
const slug = unique('readers');
const person = { email: `owner@${slug}.example`, password: 'the morning paper, folded twice' };

test('the page and the feed are public, and the page is narrowed to one area', async ({ page, request }) => {
  await page.goto('/changelog');
  const titles = page.getByRole('main').getByRole('heading', { level: 2 });
  await expect(titles).toHaveText(CHANGELOG.map(({ title }) => title));
  await accessible(page);
  const [column, width] = [await titles.first().boundingBox(), page.viewportSize()?.width ?? 0];
  const list = await page.getByRole('main').getByRole('list').boundingBox();
  expect(Math.abs((list?.x ?? 0) + (list?.width ?? 0) / 2 - width / 2), 'one column in the middle').toBeLessThan(12);
  expect((await page.getByRole('link', { name: 'Sallyport dashboard' }).boundingBox())?.x).toBe(column?.x);
  await page.getByRole('link', { name: 'API', exact: true }).click();
  await expect(titles).toHaveText(CHANGELOG.filter(({ areas }) => areas.includes('api')).map(({ title }) => title));
  await expect(page.getByRole('link', { name: 'API', exact: true })).toHaveAttribute('aria-current', 'page');
  const feed = await request.get('/changelog.xml');
  expect(feed.headers()['content-type']).toContain('application/rss+xml');
  const parsed = await page.evaluate(
    (text) => {
      const document = new DOMParser().parseFromString(text, 'application/xml');
      return [document.querySelectorAll('parsererror').length, document.querySelectorAll('item > title').length];
    },
    await feed.text(),
  );
  expect(parsed).toEqual([0, CHANGELOG.length]);
});

test('Help is marked until the panel was opened, in every browser of the person', async ({ page, browser }) => {
  await createWorkspace(slug, person);
  await signIn(page, person, slug);
  // Whoever joins today has missed nothing; who looked last some releases ago has.
  await expect(page.getByRole('button', { name: 'Help', exact: true })).toBeVisible();
  const oldest = CHANGELOG.at(-1)?.id;
  await page.evaluate(async (changelog_seen) => {
    const me = (await (await fetch('/auth/me')).json()) as { csrf_token: string };
    await fetch('/auth/me', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-csrf-token': me.csrf_token },
      body: JSON.stringify({ preferences: { changelog_seen } }),
    });
  }, oldest);
  await page.reload();
  await page.getByRole('button', { name: 'Help, with unread news' }).click();
  await expect(page.getByRole('menuitem', { name: /What’s new/ })).toContainText(`${CHANGELOG.length - 1} unread`);
  const kept = page.waitForResponse((response) => response.url().endsWith('/auth/me') && response.request().method() === 'PATCH');
  await page.getByRole('menuitem', { name: /What’s new/ }).click();
  expect((await kept).status()).toBe(200);
  await expect(page.getByRole('dialog').getByRole('heading', { level: 3 })).toHaveCount(CHANGELOG.length);
  await accessible(page);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Help', exact: true })).toBeVisible();

  const context = await browser.newContext();
  const other = await context.newPage();
  await signIn(other, person, slug);
  await expect(other.getByRole('button', { name: 'Help', exact: true })).toBeVisible();
  await context.close();
});
