import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, unique } from './running-system.ts';

/** Views of list pages and the choice of columns, as one person uses them (70 §3.5). */
const slug = unique('viewers');
const person = { email: `owner@${slug}.example`, password: 'a room with several views' };

test('a look at a list is kept under a name, shown again, preferred, shared and removed; columns come and go', async ({ page }) => {
  await createWorkspace(slug, person);
  await signIn(page, person, slug);
  const routes = `/${slug}/test/routes`;
  // An address behind the end of the list (an old link, rows that were deleted) shows its last page, not an empty list.
  await page.goto(`${routes}?enabled=true&page=9`);
  await expect(page).toHaveURL(new RegExp(`${routes}\\?enabled=true$`));
  await expect(page.getByRole('columnheader', { name: 'Upstream' })).toBeVisible();
  await page.getByRole('button', { name: 'Columns' }).click();
  await accessible(page, 'the menu of columns is open');
  await page.getByRole('menuitemcheckbox', { name: 'Upstream' }).click();
  await expect(page.getByRole('columnheader', { name: 'Upstream' })).toHaveCount(0);
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save view…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save view' });
  await accessible(page, 'the dialog is open');
  await dialog.getByLabel('Name').fill('On, without upstream');
  await dialog.getByRole('checkbox', { name: 'Set as default' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('button', { name: 'On, without upstream' })).toBeVisible();

  await page.getByRole('button', { name: 'On, without upstream' }).click();
  await page.getByRole('menuitemcheckbox', { name: /^All/ }).click();
  await expect(page).toHaveURL(new RegExp(`${routes}$`));
  await expect(page.getByRole('columnheader', { name: 'Upstream' })).toBeVisible();

  // The bare page opens in it, in a browser that never chose columns too.
  await page.evaluate(() => localStorage.clear());
  await page.goto(routes);
  await expect(page).toHaveURL(/enabled=true/);
  await expect(page.getByRole('columnheader', { name: 'Upstream' })).toHaveCount(0);

  await page.getByRole('button', { name: 'On, without upstream' }).click();
  await page.getByText('Manage views…').click();
  const manage = page.getByRole('dialog', { name: 'Saved views' });
  await manage.getByRole('button', { name: 'Edit view On, without upstream' }).click();
  await page.getByRole('menuitem', { name: 'Share' }).click();
  await expect(manage.getByText('Shared', { exact: true })).toBeVisible();
  await accessible(page, 'the list of views is open');
  await manage.getByRole('button', { name: 'Edit view On, without upstream' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(manage.getByText('No saved views.')).toBeVisible();
});
