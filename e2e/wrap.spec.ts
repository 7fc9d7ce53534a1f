import http from 'node:http';
import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, setting, unique } from './running-system.ts';

/** S4: a provider's key is stored from the page, and an SDK gets an address that stands for it. The key is never shown again. */
const slug = unique('wrappers');
const person = { email: `owner@${slug}.example`, password: 'seven seals on the parcel' };
const KEY = 'escrowed-key-of-the-journey';

test.beforeAll(async () => {
  await createWorkspace(slug, person);
});

test('S4: wrap an SDK key from the page, use its address, revoke it', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto(`/${slug}/live/wrap`);
  await accessible(page, 'without credentials');
  await page.getByRole('button', { name: 'Wrap an SDK' }).first().click();
  const sheet = page.getByRole('dialog', { name: 'Wrap an SDK' });
  await sheet.getByRole('radio', { name: 'OpenAI' }).click();
  await sheet.getByLabel('Key', { exact: false }).first().fill(KEY);
  await accessible(page, 'the wizard');
  await sheet.getByRole('button', { name: 'Store key' }).click();

  const use = page.getByRole('dialog', { name: 'Use it in your code' });
  await use.getByLabel('Label').fill('checkout');
  await use.getByRole('button', { name: 'Create gateway token' }).click();
  const shown = page.getByRole('dialog', { name: 'Gateway token created' });
  const base_url = (await shown.locator('pre').textContent()) ?? '';
  expect(base_url).toMatch(/\/wg\/wkt_[a-z2-7]{52}\/api\.openai\.com$/);
  await shown.getByRole('checkbox').check();
  await shown.getByRole('button', { name: 'Done' }).click();
  expect(await page.content()).not.toContain(base_url.split('/')[4]);
  expect(await page.content()).not.toContain(KEY);

  const api = new URL(setting('E2E_API_URL')).origin;
  const wrong = await fetch(`${api}/wg/${base_url.split('/')[4]}/api.other.example/v1/models`);
  expect([wrong.status, wrong.headers.get('x-svc-error')]).toEqual([403, 'host_not_allowed']);

  await use.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('row', { name: /OPENAI_SDK_KEY/ })).toContainText('api.openai.com');
  await page.getByRole('radio', { name: 'Gateway tokens' }).click();
  await accessible(page, 'the tokens');
  await page
    .getByRole('row', { name: /checkout/ })
    .getByRole('button', { name: /actions/i })
    .click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await expect(page.getByRole('row', { name: /checkout/ })).toContainText('Revoked');
  // From an address of its own: others may have used up the unknown credentials that one address may try in a minute.
  const gone = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const from = { localAddress: '127.0.0.77', agent: false, headers: { host: new URL(api).host } };
    const url = `http://127.0.0.1:${new URL(api).port}/wg/${base_url.split('/')[4]}/api.openai.com/v1/models`;
    http.get(url, from, (answer) => resolve(answer.resume())).on('error', reject);
  });
  expect([gone.statusCode, gone.headers['x-svc-error']]).toEqual([401, 'wrap_token_invalid']);
});
