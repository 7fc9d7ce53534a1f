import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { inflateRawSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { Provider } from 'oidc-provider';
import { samlProvider } from '#server/domain/sso/saml.fixture.ts';

// Identity providers of others, on ports of their own, with pages that a person uses.

const CLIENT = { client_id: 'sallyport', client_secret: 'a secret of at least some length' };

/** node-oidc-provider with its own sign-in pages: whoever types an address there has it. */
export async function startOidcProvider(redirectUri: string) {
  const server = http.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri], grant_types: ['authorization_code'], response_types: ['code'] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['a key for cookies'] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: id, email_verified: true, name: id.split('@')[0] }) }),
  });
  server.on('request', provider.callback());
  return {
    client: { ...CLIENT, issuer },
    signIn: async (page: Page, email: string) => {
      await page.locator('input[name=login]').fill(email);
      await page.locator('input[name=password]').fill('any');
      await page.locator('button[type=submit]').click();
      await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
      await page.locator('button[type=submit]').click();
    },
    close: () => closed(server),
  };
}

/** node-oidc-provider as a company's own API has it: short-lived tokens with refresh tokens, which it can take back. */
export async function startTokenProvider() {
  const server = http.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ ...CLIENT, redirect_uris: ['https://placeholder.example/'] },
        ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
      },
    ],
    scopes: ['openid', 'offline_access'],
    // Shorter than a token may live to be used: every call wants a new one.
    ttl: { AccessToken: 30 },
    cookies: { keys: ['a key for cookies'] },
    issueRefreshToken: async () => true,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  });
  const grants = new Set<string>();
  provider.on('access_token.saved', ({ grantId }) => void (grantId && grants.add(grantId)));
  server.on('request', provider.callback());
  return {
    client: CLIENT,
    auth_url: `${issuer}/auth`,
    token_url: `${issuer}/token`,
    /** As a person registers it in the provider's console. */
    register: async (uri: string) => {
      const client = await provider.Client.find(CLIENT.client_id);
      (client as unknown as { redirectUris: string[] }).redirectUris = [uri];
    },
    /** Whether a token is one of the provider's and still good. */
    knows: async (token: string) => (await provider.AccessToken.find(token)) !== undefined,
    /** Takes back everything that was consented to. */
    revoke: async () => {
      for (const id of grants) {
        await provider.RefreshToken.revokeByGrantId(id);
        await provider.AccessToken.revokeByGrantId(id);
        await (await provider.Grant.find(id))?.destroy();
      }
      grants.clear();
    },
    signIn: async (page: Page, email: string) => {
      await page.locator('input[name=login]').fill(email);
      await page.locator('input[name=password]').fill('any');
      await page.locator('button[type=submit]').click();
      await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
      await page.locator('button[type=submit]').click();
    },
    /** A browser that the provider knows is asked for its consent alone. */
    consent: async (page: Page) => {
      await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
      await page.locator('button[type=submit]').click();
    },
    close: () => closed(server),
  };
}

/** samlify behind a page that asks who signs in, and posts what it says to this service. */
export async function startSamlProvider(acs: string) {
  const server = http.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const idp = await samlProvider({ acs, entityID: `${origin}/metadata`, ssoUrl: `${origin}/sso` });
  server.on('request', async (req, res) => {
    const query = new URL(req.url ?? '/', origin).searchParams;
    res.setHeader('content-type', 'text/html');
    const email = query.get('email');
    if (email === null) {
      const kept = ['SAMLRequest', 'RelayState'].map((name) => hidden(name, query.get(name) ?? '')).join('');
      return void res.end(`<form action="/sso">${kept}<label>Who are you? <input name="email"></label><button>Sign in</button></form>`);
    }
    const request = inflateRawSync(Buffer.from(query.get('SAMLRequest') ?? '', 'base64')).toString();
    const to = { entity_id: /Issuer[^>]*>([^<]+)</.exec(request)?.[1] ?? '', request_id: /\sID="([^"]+)"/.exec(request)?.[1] ?? '' };
    const response = Buffer.from(await idp.respond(to, { Email: email })).toString('base64');
    const fields = hidden('SAMLResponse', response) + hidden('RelayState', query.get('RelayState') ?? '');
    res.end(`<form method="post" action="${acs}">${fields}<button>Go on</button></form>`);
  });
  return {
    metadata: idp.metadata,
    signIn: async (page: Page, email: string) => {
      await page.getByLabel('Who are you?').fill(email);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Go on' }).click();
    },
    close: () => closed(server),
  };
}

const hidden = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value.replaceAll('"', '&quot;')}">`;

function closed(server: http.Server): void {
  server.close();
  server.closeAllConnections();
}
