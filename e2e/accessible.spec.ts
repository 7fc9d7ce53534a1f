import { chromium, expect, test } from '@playwright/test';
import { accessible, hydrated } from './person.ts';

/** Headless Chromium then draws when it is told to, and here nobody tells it. */
const UNDRAWN = ['--enable-begin-frame-control', '--run-all-compositor-stages-before-draw'];

test('a page is waited for and judged in a tab that the browser does not draw', async ({ launchOptions }) => {
  const browser = await chromium.launch({ ...launchOptions, args: [...(launchOptions.args ?? []), ...UNDRAWN] });
  try {
    const page = await browser.newPage();
    await page.setContent('<!doctype html><html lang="en"><main><h1>A page</h1></main></html>');
    await page.evaluate(() => {
      document.querySelector('h1')?.animate({ color: ['white', 'black'] }, { duration: 1_000, fill: 'both' });
      setTimeout(() => {
        document.title = 'A page';
      }, 200);
    });
    await hydrated(page);
    await accessible(page);
    await expect(page.getByRole('heading')).toHaveCSS('color', 'rgb(0, 0, 0)');
  } finally {
    await browser.close();
  }
});
