import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, startUpstream, unique } from './running-system.ts';

/** A request that was tried once is kept with its route, and run again with what its answer must hold (70 §11). */
const slug = unique('examples');
const person = { email: `owner@${slug}.example`, password: 'the same question, asked twice' };

test('a try becomes an example; run again, it passes, and says what failed once the upstream answers otherwise', async ({ page }) => {
  await createWorkspace(slug, person);
  const key = (await operator(['create-key', '--slug', slug, '--space', 'test'])).api_key ?? '';
  let id = 7;
  const upstream = await startUpstream((_req, res) =>
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ data: { id } })),
  );
  const made = await json(`${setting('E2E_SANDBOX_API_URL')}/v1/routes`, { key, body: { name: 'orders', target_base_url: upstream.url } });
  const route = (made.body.data as { id: string }).id;

  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/routes/${route}?tab=test`);
  await page.getByRole('textbox', { name: 'Path and query' }).fill('/orders/7');
  await page.getByRole('button', { name: 'Add header' }).click();
  await page.getByRole('textbox', { name: 'Name of header 1' }).fill('X-Api-Key');
  await page.getByRole('textbox', { name: 'Value of header 1' }).fill('never to be kept');
  await page.getByRole('button', { name: 'Save as example…' }).click();
  const sheet = page.getByRole('dialog', { name: 'Save as example' });
  await sheet.getByRole('textbox', { name: 'Name', exact: true }).fill('the seventh order');
  await sheet.getByRole('button', { name: 'Add assertion' }).click();
  await sheet.getByRole('combobox', { name: 'Type of assertion 2' }).click();
  await page.getByRole('option', { name: 'JSON value is' }).click();
  await sheet.getByRole('textbox', { name: 'Path, e.g. data.id of assertion 2' }).fill('data.id');
  await sheet.getByRole('textbox', { name: 'Value of assertion 2' }).fill('7');
  await expect(sheet.getByText('Saved without a value')).toContainText('X-Api-Key');
  await accessible(page);
  await sheet.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(sheet).toHaveCount(0);

  const run = page.getByRole('button', { name: 'Run the seventh order' });
  const row = page.getByRole('listitem').filter({ has: run });
  await run.click();
  await expect(row).toContainText('Passed');
  expect(upstream.seen.at(-1)?.url).toBe('/orders/7');
  expect(upstream.seen.at(-1)?.headers['x-api-key']).toBeUndefined();
  id = 8;
  await page.getByRole('button', { name: 'Run all' }).click();
  await expect(row).toContainText('1 failed');
  await expect(row).toContainText('got 8');
  await accessible(page);

  // Another visit: it is with the route, and opens in the form.
  await page.reload();
  await page.getByRole('button', { name: 'the seventh order', exact: true }).click();
  await expect(page.getByRole('textbox', { name: 'Path and query' })).toHaveValue('/orders/7');
  await expect(page.getByRole('textbox', { name: 'Value of header 1' })).toHaveValue('');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByRole('heading', { name: 'Assertions' })).toBeVisible();
  await expect(page.getByText('got 8')).toBeVisible();
  await page.getByRole('button', { name: 'Actions for the seventh order' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(page.getByText('Saved examples')).toHaveCount(0);
  upstream.close();
});
