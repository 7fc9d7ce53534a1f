import { expect, test } from '@playwright/test';
import * as OTPAuth from 'otpauth';
import { type KmsServer, startKmsServer } from '../server/platform/kms/kms-server.fixture.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, startUpstream, type Upstream, unique, until } from './running-system.ts';

/** S5: a workspace under its own KMS. The key is disabled there: sealed, and calls are refused clearly. It is enabled again: everything recovers by itself. */
const slug = unique('own-kms');
const owner = { email: `owner@${slug}.example`, password: 'seven bells in the tower' };
const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const ROLE = 'arn:aws:iam::111122223333:role/svc-kms-access';
let key = '';
let kms: KmsServer;
let upstream: Upstream;

test.beforeAll(async () => {
  kms = await startKmsServer(Number(setting('E2E_KMS_PORT')));
  upstream = await startUpstream();
  await createWorkspace(slug, owner, 'enterprise');
  key = (await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure'])).api_key ?? '';
  const post = async (path: string, body: object) => {
    const answer = await json(`${setting('E2E_API_URL')}/v1${path}`, { key, body });
    expect(answer.status, answer.text).toBe(201);
  };
  await post('/secrets', { name: 'TOKEN', value: 'the upstream credential' });
  await post('/routes', {
    name: 'needs',
    slug: 'needs',
    target_base_url: upstream.url,
    inject_headers_json: { 'X-Token': '{{secret:TOKEN}}' },
  });
  await post('/routes', { name: 'plain', slug: 'plain', target_base_url: upstream.url });
});
test.afterAll(async () => {
  upstream?.close();
  await kms?.close();
});

const call = (route: string) => json(`http://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}/${route}`, { headers: { 'x-svc-key': key } });
const becomes = (status: number) => until(`calls are answered ${status}`, async () => (await call('needs')).status === status);

test('S5: a key disabled at the provider seals the workspace; enabled again, it recovers by itself', async ({ page }) => {
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  await becomes(200);
  await signIn(page, owner, slug);
  await page.goto(`/${slug}/settings/keys`);
  await expect(page.getByRole('heading', { name: 'Held by this installation' })).toBeVisible();
  await accessible(page, 'Tenant KMS without a KMS');

  await page.getByRole('button', { name: 'Add provider' }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('button', { name: 'Trust policy' }).click();
  const externalId = /"sts:ExternalId": "([0-9a-f-]{36})"/.exec((await sheet.locator('figure').textContent()) ?? '')?.[1];
  expect(externalId).toBeTruthy();
  await expect(sheet.getByText('arn:aws:iam::999988887777:root')).toBeVisible();
  await accessible(page, 'the wizard');

  // A grant that isn't there yet: nothing is saved, and what was typed stays.
  kms.mood = 'denied';
  await sheet.getByLabel('Key ARN').fill(KEY);
  await sheet.getByLabel('Region').fill('eu-central-1');
  await sheet.getByLabel('Role ARN').fill(ROLE);
  await sheet.getByRole('button', { name: 'Verify and use key' }).click();
  await expect(sheet.getByText('refused the key (AccessDeniedException)')).toBeVisible();
  kms.mood = 'ok';
  await sheet.getByRole('button', { name: 'Verify and use key' }).click();
  await expect(page.getByRole('heading', { name: 'AWS KMS' })).toBeVisible();
  expect([kms.seen.role, kms.seen.externalId]).toEqual([ROLE, externalId]);
  await becomes(200);
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await expect(page.getByText('wrapped and unwrapped a test value')).toBeVisible();
  await accessible(page, 'Tenant KMS in use');

  kms.mood = 'disabled';
  await becomes(503);
  const refused = await call('needs');
  expect([refused.headers.get('x-svc-error'), refused.headers.get('retry-after')]).toEqual(['tenant_sealed', '30']);
  expect((await call('plain')).status, 'a call without a secret goes on').toBe(200);
  const written = await json(`${setting('E2E_API_URL')}/v1/secrets`, { key, body: { name: 'LATER', value: 'x' } });
  expect([written.status, written.body.error.type]).toEqual([503, 'tenant_sealed']);
  expect((await json(`${setting('E2E_API_URL')}/v1/secrets`, { key })).status, 'names can be read').toBe(200);

  await page.goto(`/${slug}/live/routes`);
  const banner = page.getByText('This workspace is sealed.');
  await expect(banner).toBeVisible();
  await accessible(page, 'a sealed workspace');
  await page.getByRole('link', { name: 'Open Tenant KMS' }).click();
  await page.waitForURL(`**/${slug}/settings/keys`); // the banner says the same
  await expect(page.getByText('access_denied: DisabledException').first()).toBeVisible();
  await accessible(page, 'Tenant KMS while sealed');
  await page.reload();
  await expect(page.getByText('access_denied: DisabledException').first()).toBeVisible();
  expect(errors, 'the server draws a sealed workspace as the browser does').toEqual([]);

  // Unsealing by hand takes a confirmation, and access: asked too early it says what is wrong.
  const totp = await enrol();
  await page.getByRole('button', { name: 'Unseal', exact: true }).click();
  await expect(page.getByText('refused the key (DisabledException)')).toBeVisible();
  expect(totp).toBeTruthy();

  kms.mood = 'ok';
  await becomes(200);
  await expect(banner).toBeHidden();
  await expect(page.getByText('In use', { exact: true })).toBeVisible();
  const chain = await page.request.get('/admin/audit-logs/critical', { headers: { 'x-tenant-id': slug } });
  const { entries } = (await chain.json()) as { entries: { action: string; actor_id: string | null; details: { trigger?: string } }[] };
  expect(entries.map(({ action }) => action)).toEqual(['byok.kms.onboard', 'byok.kms.unseal']);
  expect(entries[1]).toMatchObject({ actor_id: null, details: { trigger: 'auto' } });
});

/** An authenticator app for the Owner. */
async function enrol(): Promise<OTPAuth.TOTP> {
  const admin = setting('E2E_ADMIN_URL');
  const { token } = (await json(`${admin}/auth/login`, { body: owner })).body;
  const setup = (await json(`${admin}/auth/2fa/setup`, { key: token, body: {} })).body;
  const totp = new OTPAuth.TOTP({ secret: setup.secret_base32, digits: 6, period: 30 });
  const answer = await json(`${admin}/auth/2fa/verify`, { key: token, body: { setup_token: setup.setup_token, code: totp.generate() } });
  expect(answer.status, answer.text).toBeLessThan(300);
  return totp;
}
