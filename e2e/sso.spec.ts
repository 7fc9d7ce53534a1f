import { expect, type Page, test } from '@playwright/test';
import * as OTPAuth from 'otpauth';
import { startOidcProvider, startSamlProvider } from './identity-providers.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting } from './running-system.ts';

/** P3: people of a verified domain sign in through their provider, by OpenID Connect and by SAML, and nobody else does. */
const admin = () => setting('E2E_ADMIN_URL');

/** A workspace with a verified domain, its Owner, and Anna, who is a Viewer. */
async function company(slug: string) {
  const domain = `${slug}.example`;
  const owner = { email: `owner@${domain}`, password: 'seven bells in the tower' };
  await createWorkspace(slug, owner, 'enterprise');
  await operator(['set-member', '--slug', slug, '--email', `anna@${domain}`, '--role', 'viewer']);
  await operator(['verify-domain', '--slug', slug, '--domain', domain]);
  return { slug, domain, owner };
}

/** Makes a connection as its Owner does, who confirms with an authenticator app. */
async function connect({ slug, owner }: Awaited<ReturnType<typeof company>>, body: object) {
  const call = async (path: string, key: string | undefined, sent: object, headers: Record<string, string> = {}) => {
    const answer = await json(`${admin()}${path}`, { ...(key ? { key } : {}), body: sent, headers: { 'x-tenant-id': slug, ...headers } });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const { token } = await call('/auth/login', undefined, owner);
  const setup = await call('/auth/2fa/setup', token, {});
  const totp = new OTPAuth.TOTP({ secret: setup.secret_base32, digits: 6, period: 30 });
  // A code is good once: that of the step before enrolls, that of this one confirms.
  const code = (offset: number) => totp.generate({ timestamp: Date.now() + offset });
  await call('/auth/2fa/verify', token, { setup_token: setup.setup_token, code: code(-30_000) });
  const verified = await call('/auth/2fa/verify-step-up', token, { action_scope: 'sso.change', code: code(0) });
  return call('/admin/sso/connections', token, body, { 'x-svc-stepup': verified.step_up_token });
}

/** From the sign-in page to the provider's, as somebody this browser doesn't know. */
async function toProvider(page: Page, email: string): Promise<void> {
  await page.context().clearCookies();
  await page.goto('/signin');
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
}

async function expectRefused(page: Page): Promise<void> {
  await expect(page.getByText("isn't verified in this workspace")).toBeVisible();
  await accessible(page, 'a refused sign-in');
  expect((await page.request.get('/auth/me')).status()).toBe(401);
}

test('people of a verified domain sign in by OpenID Connect, and a person of another domain is refused', async ({ page }) => {
  const acme = await company('acme-oidc');
  await signIn(page, acme.owner, acme.slug);
  await page.goto(`/${acme.slug}/settings/domains`);
  await expect(page.getByText('Verified', { exact: true }).first()).toBeVisible();
  await accessible(page, 'domains');
  await page.goto(`/${acme.slug}/settings/sso`);
  await expect(page.getByText('No identity provider yet')).toBeVisible();
  await accessible(page, 'no connections');

  const { workspaces } = (await (await page.request.get('/auth/workspaces')).json()) as { workspaces: { id: string }[] };
  const provider = await startOidcProvider(`${admin()}/auth/sso/callback/${workspaces[0]?.id}`);
  await connect(acme, { kind: 'oidc', name: 'Our provider', ...provider.client });
  await toProvider(page, `anna@${acme.domain}`);
  await provider.signIn(page, `anna@${acme.domain}`);
  await page.waitForURL(`**/${acme.slug}/**`);
  const me = (await (await page.request.get('/auth/me')).json()) as { user: { email: string }; session: { auth_methods: string[] } };
  expect([me.user.email, me.session.auth_methods]).toEqual([`anna@${acme.domain}`, ['sso']]);

  await toProvider(page, `anna@${acme.domain}`);
  await provider.signIn(page, 'eve@elsewhere.example');
  await expectRefused(page);
  provider.close();
});

test('the same by SAML, after a test sign-in that shows what the provider says', async ({ page }) => {
  const acme = await company('acme-saml');
  await signIn(page, acme.owner, acme.slug);
  const idp = await startSamlProvider(`${admin()}/auth/sso/acs`);
  await connect(acme, { kind: 'saml', name: 'Our provider', metadata_xml: idp.metadata });
  await page.goto(`/${acme.slug}/settings/sso`);
  await expect(page.getByText('Not tested yet')).toBeVisible();
  await page.getByRole('button', { name: 'Test sign-in' }).click();
  await idp.signIn(page, `anna@${acme.domain}`);
  await expect(page.getByText('The connection works.')).toBeVisible();
  await expect(page.getByText(`Signs in as anna@${acme.domain}`)).toBeVisible();
  await accessible(page, 'a test sign-in');

  await toProvider(page, `anna@${acme.domain}`);
  await idp.signIn(page, `anna@${acme.domain}`);
  await page.waitForURL(`**/${acme.slug}/**`);
  expect(((await (await page.request.get('/auth/me')).json()) as { user: { email: string } }).user.email).toBe(`anna@${acme.domain}`);

  await toProvider(page, `anna@${acme.domain}`);
  await idp.signIn(page, 'eve@elsewhere.example');
  await expectRefused(page);
  idp.close();
});
