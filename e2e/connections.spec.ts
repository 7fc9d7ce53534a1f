import { expect, type Page, test } from '@playwright/test';
import { startTokenProvider } from './identity-providers.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, startUpstream, type Upstream, unique } from './running-system.ts';

/**
 * S1: a person connects a provider in the browser, and a route calls with a token that is always fresh. The provider takes its consent back: calls are
 * refused, the page says so and leads back to the provider, and the route works again.
 */
const slug = unique('connected');
const person = { email: `owner@${slug}.example`, password: 'a bridge of borrowed keys' };
/** Playwright prepares once more after a test that failed. */
const run = Date.now();
const NAME = `CRM_${run}`;

let provider: Awaited<ReturnType<typeof startTokenProvider>>;
let upstream: Upstream;
let key: string;

test.beforeAll(async () => {
  provider = await startTokenProvider();
  upstream = await startUpstream(async (req, res) => {
    const token = (req.headers.authorization ?? '').replace('Bearer ', '');
    const known = await provider.knows(token);
    res.writeHead(known ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify({ known }));
  });
  await createWorkspace(slug, person);
  key = (await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure'])).api_key as string;
});
test.afterAll(() => {
  provider.close();
  upstream.close();
});

const call = () => fetch(`http://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}/crm-${run}`, { headers: { 'x-svc-key': key } });
const state = (page: Page, text: string) => expect(page.getByText(text, { exact: true }).first()).toBeVisible();

test('S1: connect a provider, call with a fresh token, lose the consent, reconnect', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto(`/${slug}/live/secrets?open=new`);
  const sheet = page.getByRole('dialog', { name: 'New secret' });
  await sheet.getByRole('radio', { name: 'OAuth2 connection' }).click();
  await sheet.getByLabel('Name', { exact: false }).first().fill(NAME);
  await sheet.getByLabel('Client ID').fill(provider.client.client_id);
  await sheet.getByLabel('Client secret').fill(provider.client.client_secret);
  await sheet.getByLabel('Authorization URL').fill(provider.auth_url);
  await sheet.getByLabel('Token URL').fill(provider.token_url);
  await sheet.getByLabel('Scopes').fill('openid offline_access');
  await accessible(page, 'the form of a connection');
  await sheet.getByRole('button', { name: 'Create connection' }).click();
  await page.waitForURL(/\/secrets\/[0-9a-f-]{36}/);
  const id = /secrets\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? '';
  const tab = `/${slug}/live/secrets/${id}?tab=connection`;

  await page.goto(tab);
  await state(page, 'Not authorized yet');
  await accessible(page, 'a connection without consent');
  expect(await page.content()).not.toContain(provider.client.client_secret);
  await provider.register(`${new URL(setting('E2E_API_URL')).origin}/auth/oauth2/callback/${id}`);
  await page.getByRole('button', { name: 'Authorize' }).click();
  await provider.signIn(page, 'ada@example.com');
  await page.waitForURL(/connected=yes/);
  await state(page, 'Connected');
  await accessible(page, 'a connection');

  const made = await json(`${setting('E2E_API_URL')}/v1/routes`, {
    method: 'POST',
    key,
    body: {
      name: `CRM ${run}`,
      slug: `crm-${run}`,
      target_base_url: upstream.url,
      inject_headers_json: { Authorization: `Bearer {{secret:${NAME}}}` },
    },
  });
  expect(made.status, made.text).toBe(201);
  await expect(async () => expect((await call()).status).toBe(200)).toPass();
  const first = upstream.seen.at(-1)?.headers.authorization;
  expect((await call()).status).toBe(200);
  expect(upstream.seen.at(-1)?.headers.authorization, 'its token was too near its end').not.toBe(first);

  await provider.revoke();
  const before = upstream.seen.length;
  const refused = await call();
  expect([refused.status, refused.headers.get('x-svc-error')]).toEqual([424, 'oauth2_not_connected']);
  expect(await refused.text()).toContain('Connect it again');
  expect(upstream.seen.length, 'nothing is sent without a token').toBe(before);

  await page.goto(tab);
  await state(page, 'The provider no longer accepts this connection');
  await accessible(page, 'an expired connection');
  await page.getByRole('button', { name: 'Reconnect' }).click();
  await provider.consent(page);
  await page.waitForURL(/connected=yes/);
  await state(page, 'Connected');
  await expect(async () => expect((await call()).status).toBe(200)).toPass();
});
