import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, test } from '@playwright/test';
import { readPfx } from '#server/crypto/pfx.ts';
import { addPasskey, virtualAuthenticator } from './authenticator.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, unique } from './running-system.ts';

/**
 * K1: a person makes a root and a role, tries names on it, and issues a certificate behind a passkey. Its key is shown once, saved as PKCS #12, and then
 * nowhere in the page. The certificate is revoked with a reason.
 */
const slug = unique('notaries');
const owner = { email: `owner@${slug}.example`, password: 'a seal of wax and thread' };

test('K1: root, role, name check, issue with a passkey, PKCS #12, revoke', async ({ page }) => {
  await createWorkspace(slug, owner);
  const device = await virtualAuthenticator(page);
  await signIn(page, owner, slug);
  await addPasskey(page, device, owner.email);

  await page.goto(`/${slug}/live/pki`);
  await page.getByRole('button', { name: 'New root' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('corp');
  await page.getByLabel('Common name').fill('Notaries Internal CA');
  await page.getByLabel('Organization', { exact: false }).first().fill('Notaries');
  await accessible(page, 'new root');
  await page.getByRole('button', { name: 'Create root' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'corp' })).toBeVisible();

  await page.getByRole('button', { name: 'New role' }).click();
  await page.getByLabel('Name', { exact: true }).fill('services');
  await page.getByRole('textbox', { name: /domains/i }).fill('*.internal.example.com');
  await page.getByRole('button', { name: 'Create role' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  const check = page.getByLabel('Name', { exact: true });
  await check.fill('api.internal.example.com');
  await expect(page.getByText('Allowed: api.internal.example.com, by *.internal.example.com')).toBeVisible();
  await check.fill('evil.example.org');
  await expect(page.getByText('Not allowed: no domain of the role matches')).toBeVisible();
  await accessible(page, 'roles');

  await page.getByRole('button', { name: 'Issue certificate' }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByLabel('Common name').fill('api.internal.example.com');
  await sheet.getByLabel('IP addresses').fill('10.0.0.7');
  await accessible(page, 'issue certificate');
  await device.presentFor(async () => {
    await sheet.getByRole('button', { name: 'Issue certificate' }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await expect(page.getByText('Certificate and private key')).toBeVisible();
  });
  await accessible(page, 'issued certificate');
  const shown = (await page.locator('pre', { hasText: 'BEGIN PRIVATE KEY' }).textContent()) ?? '';
  const key = createPrivateKey(shown);
  const leaf = new X509Certificate(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/.exec(shown)?.[0] ?? '');
  expect([leaf.checkPrivateKey(key), leaf.subjectAltName]).toEqual([true, 'DNS:api.internal.example.com, IP Address:10.0.0.7']);

  await page.getByLabel('Passphrase of a PKCS #12 file', { exact: false }).fill('twelve letters at least');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save PKCS #12' }).click()]);
  expect(download.suggestedFilename()).toBe('api.internal.example.com.p12');
  const { certificates, private_keys } = readPfx(await readFile(await download.path()), 'twelve letters at least');
  expect([certificates.length, private_keys[0]?.equals(key.export({ type: 'pkcs8', format: 'der' }))]).toEqual([3, true]);

  await page.getByLabel(/^I saved the/).check();
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText('Certificate and private key')).toHaveCount(0);
  const secret = shown.split('\n')[2] ?? '';
  expect(secret.length).toBeGreaterThan(40);
  expect(await page.content()).not.toContain(secret);
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  expect(stored).not.toContain(secret);

  await page.getByRole('link', { name: 'Certificates', exact: true }).click();
  await page.getByText('CN=api.internal.example.com').first().click();
  const detail = page.getByRole('dialog');
  await expect(detail.getByText('10.0.0.7')).toBeVisible();
  await accessible(page, 'certificate');
  await detail.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke certificate' }).click();
  await expect(page.getByText('Certificate revoked')).toBeVisible();
  await page.goto(`/${slug}/live/pki`);
  await page.getByRole('link', { name: 'corp' }).click();
  await page.getByRole('link', { name: 'CRL', exact: true }).click();
  await expect(page.getByRole('table', { name: 'Revocation lists' })).toBeVisible();
  await accessible(page, 'revocation lists');
});
