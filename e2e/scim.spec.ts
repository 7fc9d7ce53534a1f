import { expect, type Page, test } from '@playwright/test';
import { TOTP } from 'otpauth';
import { mailTo } from './authenticator.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, unique, until } from './running-system.ts';

/** O3: a directory provisions, renames and deactivates a person, as Okta's calls do. */

const slug = unique('roster');
const domain = `${slug}.example`;
const owner = { email: `ida@${domain}`, password: 'longitude by lunar distance' };
const ann = `ann@${domain}`;

test.beforeAll(async () => {
  await createWorkspace(slug, owner, 'enterprise');
  await operator(['verify-domain', '--slug', slug, '--domain', domain]);
});

test('a person whom the directory adds signs in, is renamed, and is out when the directory deactivates them', async ({ page, browser }) => {
  await signIn(page, owner, slug);
  const code = await enroll(page);
  await page.goto(`/${slug}/settings/directory`);
  await expect(page.getByText('No credentials yet')).toBeVisible();
  await accessible(page, 'a directory without credentials');
  await page.getByRole('button', { name: 'Create credential' }).click();
  const sheet = page.getByRole('dialog', { name: 'New SCIM credential' });
  await sheet.getByLabel('Name').fill('Okta');
  await accessible(page, 'a new credential');
  await sheet.getByRole('button', { name: 'Create credential' }).click();
  await page.getByLabel('Authenticator code').fill(code());
  const shown = page.getByRole('dialog', { name: 'Save your SCIM token' });
  const token = (await shown.getByText(/^scim_[0-9A-Za-z]{49}$/).innerText()).trim();
  await accessible(page, 'a token that is shown once');
  await shown.getByRole('checkbox').click();
  await shown.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('table', { name: 'SCIM credentials' }).getByRole('row', { name: 'Okta' })).toBeVisible();
  expect(await page.content()).not.toContain(token);

  // Test connection, match, create.
  const scim = (method: string, path: string, body?: object) =>
    json(`${setting('E2E_ADMIN_URL')}/scim/v2${path}`, {
      method,
      key: token,
      ...(body ? { body } : {}),
      headers: { 'content-type': 'application/scim+json' },
    });
  expect((await scim('GET', '/Users?startIndex=1&count=1')).body.totalResults).toBe(0);
  expect((await scim('GET', `/Users?filter=userName+eq+%22${encodeURIComponent(ann)}%22&startIndex=1&count=100`)).body.Resources).toEqual(
    [],
  );
  const profile = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: ann,
    name: { givenName: 'Ann', familyName: 'Lee' },
    emails: [{ primary: true, value: ann, type: 'work' }],
    displayName: 'Ann Lee',
    externalId: '00u1',
    groups: [],
    active: true,
  };
  const created = await scim('POST', '/Users', profile);
  expect(created.status, created.text).toBe(201);
  const user = `/Users/${created.body.id}`;

  // She signs in by the address that she was given access with.
  const theirs = await browser.newContext({ baseURL: setting('E2E_ADMIN_URL') });
  const tab = await theirs.newPage();
  await tab.request.post('/auth/magic/start', { data: { email: ann } });
  await tab.goto(await mailTo(page, ann, /(https?:\/\/\S+\/auth\/magic\?token=\S+)/));
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.waitForURL(`**/${slug}/**`);

  expect((await scim('PUT', user, { ...profile, displayName: 'Ann Grey', name: { givenName: 'Ann', familyName: 'Grey' } })).status).toBe(
    200,
  );
  await page.getByRole('link', { name: 'People' }).click();
  const row = page.getByRole('table', { name: 'People of the directory' }).getByRole('row', { name: ann });
  await expect(row).toContainText('Ann Grey');
  await expect(row).toContainText('Member');
  await accessible(page, 'people of the directory');

  const off = await scim('PATCH', user, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', value: { active: false } }],
  });
  expect([off.status, off.body.active]).toEqual([200, false]);
  await until('her session ends', async () => (await tab.request.get('/auth/me')).status() === 401);
  await tab.reload();
  await tab.waitForURL('**/signin**');
  await theirs.close();

  expect((await scim('GET', user)).body.active).toBe(false);
  await page.getByRole('link', { name: 'Latest calls' }).click();
  await expect(
    page.getByRole('table', { name: 'Latest SCIM calls' }).getByRole('row', { name: new RegExp(`PATCH ${user}`) }),
  ).toBeVisible();
  await accessible(page, 'the latest calls');
});

/** Gives whoever is signed in an authenticator app. */
async function enroll(page: Page): Promise<() => string> {
  const { csrf_token } = (await (await page.request.get('/auth/me')).json()) as { csrf_token: string };
  const headers = { 'x-csrf-token': csrf_token, origin: setting('E2E_ADMIN_URL') };
  const post = async (path: string, data: object) => {
    const answer = await page.request.post(path, { data, headers });
    expect(answer.status(), await answer.text()).toBeLessThan(300);
    return (await answer.json()) as Record<string, unknown>;
  };
  const { setup_token, secret_base32 } = await post('/auth/2fa/setup', {});
  const totp = new TOTP({ secret: String(secret_base32) });
  // A code is good once: that of the step before enrolls, that of this one confirms.
  await post('/auth/2fa/verify', { setup_token, code: totp.generate({ timestamp: Date.now() - 30_000 }) });
  return () => totp.generate();
}
