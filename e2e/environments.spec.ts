import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, unique } from './running-system.ts';

/** 11 §9: an environment is duplicated with what every route does there, and cannot go while anything uses it. */
const slug = unique('stages');
const person = { email: `owner@${slug}.example`, password: 'nine rungs on the ladder' };

test.beforeAll(async () => {
  await createWorkspace(slug, person);
});

test('an environment is duplicated, compared and refused to go while a route serves it', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/environments`);
  const choose = async (row: RegExp, item: string) => {
    await page
      .getByRole('row', { name: row })
      .getByRole('button', { name: /actions/i })
      .click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await choose(/Production/, 'Duplicate…');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('eu-west');
  await accessible(page);
  await page.getByRole('button', { name: 'Duplicate', exact: true }).click();
  await page.waitForURL(/compare\?a=production&b=eu-west/);
  await page.goto(`/${slug}/test/routes/echo?env=eu-west&tab=config&view=differences`);
  await expect(page.getByText('No differences. All settings are inherited from production (Test).')).toBeVisible();

  await page.goto(`/${slug}/test/environments`);
  const copy = page.getByRole('row', { name: /Eu West/ });
  await expect(copy.getByRole('link', { name: '1', exact: true })).toBeVisible();
  await choose(/Eu West/, 'Delete…');
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'));
  await expect(dialog).toContainText('Used by 1 route, 0 with overrides');
  await expect(dialog.getByRole('button', { name: 'Delete environment' })).toHaveAttribute('aria-disabled', 'true');
});
