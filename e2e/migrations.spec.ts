import { type ChildProcess, spawn } from 'node:child_process';
import { expect, test } from '@playwright/test';
import { freePorts } from '../scripts/ports.ts';
import { addPasskey, virtualAuthenticator } from './authenticator.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, startUpstream, unique } from './running-system.ts';

// S3: two hundred secrets of a real Vault, named by VAULT_BIN, are read, reviewed and committed; then an application's calls carry one of them.

const BIN = process.env.VAULT_BIN;
const slug = unique('movers');
const owner = { email: `owner@${slug}.example`, password: 'boxes and tape and tea' };
const ROOT = 'root-of-the-journey';
const SECRETS = 200;
let vault: ChildProcess | undefined;
let port = 0;

test.beforeAll(async () => {
  if (!BIN) return;
  [port = 0] = await freePorts(1);
  vault = spawn(BIN, ['server', '-dev', `-dev-root-token-id=${ROOT}`, `-dev-listen-address=127.0.0.1:${port}`, '-dev-no-store-token'], {
    stdio: 'ignore',
  });
  await createWorkspace(slug, owner, 'enterprise');
  await expect(async () => expect((await fetch(`http://127.0.0.1:${port}/v1/sys/health`)).ok).toBe(true)).toPass();
  for (let i = 0; i < SECRETS; i++)
    await ask(`secret/data/shop/key-${String(i).padStart(3, '0')}`, { data: { value: `vault value ${i}` } });
  await ask('sys/policies/acl/reader', { policy: 'path "secret/*" { capabilities = ["list","read"] }' });
});
test.afterAll(() => void vault?.kill('SIGKILL'));

const ask = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const answer = await json(`http://127.0.0.1:${port}/v1/${path}`, { body, headers: { 'x-vault-token': ROOT, ...headers } });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
};

test('S3: import 200 secrets from Vault, review, commit, and an application calls with one of them', async ({ page }) => {
  test.skip(!BIN, 'VAULT_BIN names no Vault');
  await signIn(page, owner, slug);
  const device = await virtualAuthenticator(page);
  await addPasskey(page, device, owner.email);

  const { wrap_info } = await ask('auth/token/create', { policies: ['reader'], ttl: '1h' }, { 'x-vault-wrap-ttl': '300' });
  await page.goto(`/${slug}/live/migrations`);
  await accessible(page, 'no migrations');
  await page.getByRole('button', { name: 'New migration' }).first().click();
  await page.getByLabel('Address').fill(`http://127.0.0.1:${port}`);
  await page.getByRole('textbox', { name: 'Wrapping token' }).fill(wrap_info.token);
  await accessible(page, 'new migration');
  await page.getByRole('button', { name: 'Check and start' }).click();
  await page.waitForURL(/\/migrations\/[0-9a-f-]{36}$/);
  await expect(page.getByText('200 items found')).toBeVisible();
  await expect(page.getByText('Awaits review')).toBeVisible();
  await accessible(page, 'items to review');

  const confirmed = (work: () => Promise<unknown>) =>
    device.presentFor(async () => {
      await work();
      await page.getByRole('button', { name: 'Use a passkey' }).click();
      await expect(page.getByRole('heading', { name: 'Confirm it’s you' })).toBeHidden();
    });
  for (let round = 1; round <= SECRETS / 50; round++) {
    await page.goto(`${page.url().split('?')[0]}?status=pending_review`);
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await expect(async () => {
      await page.getByRole('checkbox', { name: 'Select all rows on this page' }).check();
      await expect(approve).toBeVisible({ timeout: 1_000 });
    }).toPass();
    await confirmed(() => approve.click());
    await expect(page.getByText(`${round * 50} approved`)).toBeVisible();
  }
  await page.goto(`${page.url().split('?')[0]}?tab=commit`);
  await expect(page.getByText('New secrets')).toBeVisible();
  await accessible(page, 'commit');
  await confirmed(() => page.getByRole('button', { name: 'Commit', exact: true }).click());
  await expect(page.getByText('Completed')).toBeVisible();
  await expect(page.getByText('200 committed')).toBeVisible();

  const upstream = await startUpstream();
  const { api_key: key = '' } = await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Editor', '--name', 's3']);
  const route = await json(`${setting('E2E_API_URL')}/v1/routes`, {
    key,
    body: { name: 'shop', slug: 'shop', target_base_url: upstream.url, inject_headers_json: { 'X-Shop-Key': '{{secret:shop_key_042}}' } },
  });
  expect(route.status, route.text).toBe(201);
  const answer = await json(`http://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}/shop/orders`, { key });
  expect(answer.status, answer.text).toBe(200);
  expect(upstream.seen.at(-1)?.headers['x-shop-key']).toBe('vault value 42');
  upstream.close();
});
