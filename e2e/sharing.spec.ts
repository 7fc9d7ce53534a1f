import { expect, test } from '@playwright/test';
import { addPasskey, mailTo, virtualAuthenticator } from './authenticator.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, startUpstream, type Upstream } from './running-system.ts';

/** S2: a secret is shared with a partner's workspace as "can use". They accept it from the mail and call with it, and never see it; revoked, their next call is refused. */
const owner = { email: 'owner@lender.example', password: 'lent but never handed over' };
const partner = { email: 'dev@borrower.example', password: 'a key that stays in its safe' };
const [lender, borrower] = ['lender', 'borrower'];
/** Playwright prepares once more after a test that failed. */
const run = Date.now();
const NAME = `CARRIER_${run}`;
const VALUE = 'carrier-key-of-the-journey';
let upstream: Upstream;
let keys: Record<string, string>;

test.beforeAll(async () => {
  upstream = await startUpstream();
  for (const [slug, person] of [
    [lender, owner],
    [borrower, partner],
  ] as const)
    await createWorkspace(slug, person);
  const made = [lender, borrower].map((slug) =>
    operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure']),
  );
  const [first, second] = await Promise.all(made);
  keys = { [lender]: first?.api_key as string, [borrower]: second?.api_key as string };
});
test.afterAll(() => upstream.close());

const api = (slug: string, path: string, body: object) => json(`${setting('E2E_API_URL')}/v1${path}`, { key: keys[slug] as string, body });
const call = () =>
  json(`http://localhost:${setting('E2E_PROXY_PORT')}/p/${borrower}/ship-${run}`, { headers: { 'x-svc-key': keys[borrower] as string } });

test('S2: share a secret with a partner, who calls with it and never sees it, and revoke it', async ({ page, browser }) => {
  const created = await api(lender, '/secrets', { name: NAME, value: VALUE });
  expect(created.status, created.text).toBe(201);

  await signIn(page, owner, lender);
  const device = await virtualAuthenticator(page);
  await addPasskey(page, device, owner.email);
  await page.goto(`/${lender}/live/secrets/${created.body.data.id}?tab=sharing`);
  await page.getByRole('button', { name: 'Share secret' }).first().click();
  const sheet = page.getByRole('dialog', { name: `Share ${NAME}` });
  await sheet.getByLabel('Email address').fill(partner.email);
  await sheet.getByLabel('Any host').check(); // the upstream here speaks plain HTTP, which is no host to pin a value to
  await accessible(page, 'the form of a share');
  await device.presentFor(async () => {
    await sheet.getByRole('button', { name: 'Share secret' }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await expect(sheet).toBeHidden();
  });
  await expect(page.getByRole('row', { name: partner.email })).toContainText('Waiting');
  await accessible(page, 'a share that waits');

  const link = await mailTo(page, partner.email, /(https?:\/\/\S+\/shared-secret\?\S+)/);
  const theirs = await browser.newContext({ baseURL: setting('E2E_ADMIN_URL') });
  const tab = await theirs.newPage();
  await signIn(tab, partner, borrower);
  await tab.goto(link);
  const claim = tab.getByRole('dialog', { name: 'Accept a shared secret' });
  await claim.getByLabel('Name here').fill('THEIR_CARRIER');
  await accessible(tab, 'accepting a share');
  await claim.getByRole('button', { name: 'Accept share' }).click();
  await tab.waitForURL(/\/secrets\/[0-9a-f-]{36}/);
  await tab.goto(`${tab.url().split('?')[0]}?tab=sharing`);
  await expect(tab.getByText(/shares this secret with you: can use/)).toBeVisible();
  await accessible(tab, 'a linked secret');

  const route = await api(borrower, '/routes', {
    name: `Ship ${run}`,
    slug: `ship-${run}`,
    target_base_url: upstream.url.replace('127.0.0.1', 'localhost'),
    inject_headers_json: { 'X-Carrier': '{{secret:THEIR_CARRIER}}' },
  });
  expect(route.status, route.text).toBe(201);
  await expect(async () => expect((await call()).status).toBe(200)).toPass();
  expect(upstream.seen.at(-1)?.headers['x-carrier']).toBe(VALUE);
  expect((await call()).text, 'the upstream echoes what it got').not.toContain(VALUE);
  for (const one of [page, tab]) expect(await one.content()).not.toContain(VALUE);

  await page.reload();
  const row = page.getByRole('row', { name: partner.email });
  await expect(row).toContainText('Active');
  await row.getByRole('button', { name: /actions/i }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await page
    .getByRole('dialog', { name: /^Revoke the share with/ })
    .getByRole('button', { name: 'Revoke share' })
    .click();
  await expect(row).toContainText('Revoked');
  const before = upstream.seen.length;
  const refused = await call();
  expect([refused.status, refused.headers.get('x-svc-error')]).toEqual([424, 'share_revoked']);
  expect(upstream.seen.length, 'nothing is sent').toBe(before);
  await tab.reload();
  await expect(tab.getByText('This secret is no longer shared with this workspace')).toBeVisible();
  await theirs.close();
});
