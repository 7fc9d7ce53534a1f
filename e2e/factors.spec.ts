import { expect, type Page, test } from '@playwright/test';
import { TOTP } from 'otpauth';
import { mailTo, virtualAuthenticator } from './authenticator.ts';
import { accessible, hydrated, signIn } from './person.ts';
import { createWorkspace, unique } from './running-system.ts';

/** 22 §5: passkeys, authenticator apps and recovery codes, as a person meets them. */

const CODE = /\b(\d{6})\b/;
const orbits = unique('orbits');
const lost = { email: `katherine@${orbits}.example`, password: 'orbital mechanics by hand' };

// Also somebody who signed up before: only the first account of an installation needs no mail.
test.beforeAll(async () => {
  await createWorkspace(orbits, lost);
});

test('P1: sign up, add a passkey, sign out, sign in with it and reveal a secret with it; the audit entry is there before the answer', async ({
  page,
}) => {
  const slug = unique('hopping');
  const person = { name: 'Hedy Lamarr', email: `hedy@${slug}.example`, password: 'frequencies that hop together' };
  await page.goto('/signup');
  await hydrated(page);
  await page.getByLabel('Workspace').fill(slug);
  await page.getByLabel('Your name').fill(person.name);
  await page.getByLabel('Email').fill(person.email);
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Create workspace' }).click();
  await expect(page.getByText('We sent a link to')).toBeVisible();
  await page.goto(await mailTo(page, person.email, /(https?:\/\/\S+\/auth\/magic\?token=\S+)/));
  await page.getByRole('button', { name: 'Confirm and open the workspace' }).click();
  await page.waitForURL(`**/${slug}/test`);

  const device = await virtualAuthenticator(page);
  await page.goto('/me/security');
  await hydrated(page);
  await expect(page.getByText('Add a second factor')).toBeVisible();
  await page.getByRole('button', { name: 'Add passkey' }).click();
  const code = await mailTo(page, person.email, CODE);
  await device.presentFor(async () => {
    await page.getByLabel('Code from the email').fill(code);
    await page.getByRole('button', { name: 'Save passkey' }).click();
  });
  await storeCodes(page);
  await expect(page.getByRole('listitem').filter({ hasText: 'never used' })).toBeVisible();
  expect(await device.count()).toBe(1);
  await accessible(page, 'security with a passkey');

  // The email field of the sign-in page requests a passkey by itself; the device answers only requests that are made while its person looks at it.
  await device.presentFor(async () => {
    await page.getByRole('button', { name: /^Your account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/signin');
    await expect(page).toHaveURL(new RegExp(`/${slug}/test$`));
  });

  await page.goto(`/${slug}/test/secrets`);
  await page.getByRole('table').getByRole('link').first().click();
  await hydrated(page);
  // Between the server's answer and the page: the entry is there already.
  let entries: unknown[] = [];
  await page.route('**/admin/trpc/secrets.reveal**', async (route) => {
    const answer = await route.fetch();
    if (answer.status() === 200) {
      const log = await page.request.get('/admin/audit-logs?action=plaintext.reveal', {
        headers: { 'x-tenant-id': slug, 'x-svc-space': 'test' },
      });
      ({ entries } = (await log.json()) as { entries: unknown[] });
    }
    await route.fulfill({ response: answer });
  });
  await page
    .getByRole('button', { name: /^Reveal value of/ })
    .first()
    .click();
  await expect(page.getByRole('heading', { name: 'Confirm it’s you' })).toBeVisible();
  await page.getByLabel('Reason').fill('Journey P1');
  await accessible(page, 'the dialog that confirms');
  await device.presentFor(async () => {
    await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).click();
    await expect(page.getByText(/^Hides in \d+ s/)).toBeVisible();
  });
  expect(entries).toHaveLength(1);
  await page.getByRole('button', { name: 'Hide', exact: true }).click();
  await expect(page.getByText(/^Hides in/)).toHaveCount(0);
});

test('P4: a lost phone is replaced by a recovery code, and the sessions of before end', async ({ page, browser }) => {
  const phone = await browser.newContext();
  const old = await phone.newPage();
  await signIn(old, lost, orbits);
  const { csrf_token } = (await (await old.request.get('/auth/me')).json()) as { csrf_token: string };
  const post = async (path: string, data: object) => {
    const answer = await old.request.post(path, { data, headers: { 'x-csrf-token': csrf_token, origin: new URL(old.url()).origin } });
    expect(answer.status(), await answer.text()).toBe(200);
    return (await answer.json()) as Record<string, string> & { recovery_codes: string[] };
  };
  const { setup_token, secret_base32 } = await post('/auth/2fa/setup', {});
  const { recovery_codes } = await post('/auth/2fa/verify', { setup_token, code: new TOTP({ secret: secret_base32 }).generate() });

  // The password leads to the second factor, and from there back to where the person was going.
  await page.goto('/signin?next=/me/security');
  await hydrated(page);
  await page.getByLabel('Email').fill(lost.email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByLabel('Password', { exact: true }).fill(lost.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/signin/second-factor**');
  await page.getByLabel('Authenticator code').fill('000000');
  await expect(page.getByText('The code is incorrect or was already used.')).toBeVisible();
  await accessible(page, 'second factor');
  await page.getByRole('button', { name: 'Lost your device? Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(String(recovery_codes[0]).toLowerCase());
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/me/security');
  await hydrated(page);

  await page.getByRole('button', { name: 'Replace lost factors' }).click();
  await page.getByLabel('Code from the email').fill(await mailTo(page, lost.email, CODE));
  await accessible(page, 'replacing lost factors');
  // The session has a new token now. The next call carries it, however long the page takes to be drawn again.
  await page.route(/\/me\/security\?.*_rsc=/, () => undefined);
  await page.getByRole('button', { name: 'Remove and sign out' }).click();
  await expect(page.getByText('Add a second factor')).toBeVisible();
  expect((await old.request.get('/auth/me')).status(), 'the phone is signed out').toBe(401);

  await page.getByRole('button', { name: 'Set up authenticator app' }).click();
  const key = await page.getByText(/^(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}$/).innerText();
  await accessible(page, 'setting up an app');
  await page.getByLabel('Code from the app').fill(new TOTP({ secret: key.replaceAll(' ', '') }).generate());
  await storeCodes(page);
  await expect(page.getByText('10 of 10 left')).toBeVisible();
  await accessible(page, 'security with an app');
  await phone.close();
});

/** The card of recovery codes, which are shown once. */
async function storeCodes(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { name: 'Save your recovery codes' })).toBeVisible();
  await page.getByLabel(/^I saved the/).check();
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('heading', { name: 'Save your recovery codes' })).toHaveCount(0);
}
