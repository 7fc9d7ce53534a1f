import { expect, test } from '@playwright/test';
import { accessible } from './person.ts';

test('a page is judged at the end of its animations, also in a tab that the browser has stopped drawing', async ({ page }) => {
  await page.setContent('<!doctype html><html lang="en"><title>A page</title><main><h1>A page</h1></main></html>');
  // One that stands still ends by itself as little as any does without a frame.
  await page.evaluate(() =>
    document
      .querySelector('h1')
      ?.animate({ color: ['white', 'black'] }, { duration: 1_000, fill: 'both' })
      .pause(),
  );
  await accessible(page);
  await expect(page.getByRole('heading')).toHaveCSS('color', 'rgb(0, 0, 0)');
});
