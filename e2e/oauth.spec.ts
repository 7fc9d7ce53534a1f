import { spawn } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, type Page, test } from '@playwright/test';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { mailTo } from './authenticator.ts';
import { accessible, awaitHydration, fillIn, signIn } from './person.ts';
import { createWorkspace, json, setting } from './running-system.ts';

/** O4 and the ways to log in by browser and by device (21 §4.5, §6, §7), with client libraries by other authors. */
const issuer = () => new URL(setting('E2E_API_URL'));

async function company(slug: string) {
  const owner = { email: `owner@${slug}.example`, password: 'a lamp in the gatehouse' };
  await createWorkspace(slug, owner);
  return { slug, owner };
}

/** What a program on this computer listens with. */
async function listener() {
  let answered: (url: URL) => void = () => {};
  const answer = new Promise<URL>((resolve) => {
    answered = resolve;
  });
  const server = http.createServer((req, res) => {
    res.end('You can close this page.');
    if (req.url?.startsWith('/callback')) answered(new URL(req.url, redirect_uri));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const redirect_uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  return { redirect_uri, answer, close: () => server.close() };
}

/** Logs service-cli in as openid-client does, with the person in the browser. */
async function logIn(page: Page, person: { email: string; password: string }) {
  const config = await client.discovery(issuer(), 'service-cli', undefined, client.None(), {
    execute: [client.allowInsecureRequests],
    algorithm: 'oauth2',
  });
  const { redirect_uri, answer, close } = await listener();
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const to = client.buildAuthorizationUrl(config, {
    redirect_uri,
    state,
    scope: 'account:read routes:read routes:write',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  awaitHydration(page);
  await page.goto(to.href);
  await page.waitForURL('**/signin?next=**');
  await fillIn(page, person);
  await expect(page.getByRole('heading', { name: 'Allow Service CLI to use your account?' })).toBeVisible();
  await expect(page.getByText('Manage routes', { exact: true })).toBeVisible();
  await accessible(page, 'consent');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  const tokens = await client.authorizationCodeGrant(config, await answer, { pkceCodeVerifier: verifier, expectedState: state });
  close();
  return { config, tokens };
}

test('O4: a refresh token that is used twice ends the login, and the owner hears of it', async ({ page }) => {
  const { owner } = await company('loot');
  const { config, tokens } = await logIn(page, owner);
  const asked = (token: string) => json(`${issuer().origin}/v1/account`, { key: token });
  expect((await asked(tokens.access_token)).status).toBe(200);
  await page.goto('/me/apps');
  await expect(page.getByRole('row', { name: /Service CLI/ })).toBeVisible();
  await accessible(page, 'connected apps');

  const stolen = String(tokens.refresh_token);
  const next = await client.refreshTokenGrant(config, stolen);
  await expect(client.refreshTokenGrant(config, stolen)).rejects.toMatchObject({ error: 'invalid_grant' });
  await expect(client.refreshTokenGrant(config, String(next.refresh_token))).rejects.toMatchObject({ error: 'invalid_grant' });
  await expect.poll(async () => (await asked(next.access_token)).status).toBe(401);
  await mailTo(page, owner.email, /(used a second time)/);
  await page.reload();
  await expect(page.getByText('No application acts in your name.')).toBeVisible();
});

test('a device without a browser logs in by a code, with a key of its own', async ({ page }) => {
  const { owner, slug } = await company('porter');
  const insecure = { [oauth.allowInsecureRequests]: true };
  const as = await oauth.processDiscoveryResponse(issuer(), await oauth.discoveryRequest(issuer(), { ...insecure, algorithm: 'oauth2' }));
  const cli: oauth.Client = { client_id: 'service-cli' };
  const DPoP = oauth.DPoP(cli, await oauth.generateKeyPair('ES256'));
  const started = await oauth.processDeviceAuthorizationResponse(
    as,
    cli,
    await oauth.deviceAuthorizationRequest(as, cli, oauth.None(), { scope: 'account:read' }, insecure),
  );
  await signIn(page, owner, slug);
  await page.goto(String(started.verification_uri_complete));
  await expect(page.getByLabel('Code')).toHaveValue(started.user_code);
  await accessible(page, 'a code');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByText(started.user_code, { exact: true })).toBeVisible();
  await accessible(page, 'a device');
  await page.getByRole('button', { name: 'Approve' }).click();
  await expect(page.getByRole('heading', { name: 'Device connected' })).toBeVisible();
  const redeemed = await oauth.processDeviceCodeResponse(
    as,
    cli,
    await oauth.deviceCodeGrantRequest(as, cli, oauth.None(), started.device_code, { ...insecure, DPoP }),
  );
  expect([redeemed.token_type, redeemed.scope]).toEqual(['dpop', 'account:read']);
  const account = await oauth.protectedResourceRequest(
    redeemed.access_token,
    'GET',
    new URL('/v1/account', issuer()),
    undefined,
    undefined,
    { ...insecure, DPoP },
  );
  expect(account.status).toBe(200);
  expect((await json(`${issuer().origin}/v1/account`, { key: redeemed.access_token })).status).toBe(401);
});

test('the authorization code scenario of the MCP conformance suite passes', async ({ page }) => {
  const { owner, slug } = await company('harbor');
  await signIn(page, owner, slug);
  const { redirect_uri, close } = await listener();
  const { port } = new URL(redirect_uri);
  close();
  const suite = ['node_modules/@modelcontextprotocol/conformance/dist/index.js', 'authorization', '--url', issuer().origin];
  const run = spawn(process.execPath, [...suite, '--client-id', 'service-cli', '--port', port]);
  let printed = '';
  const address = new Promise<string>((found) => {
    for (const stream of [run.stdout, run.stderr])
      stream.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        const [url] = /http\S+\/oauth\/authorize\?\S+/.exec(printed) ?? [];
        if (url && printed.includes('Waiting')) found(url);
      });
  });
  const ended = new Promise<number | null>((over) => {
    run.on('close', over);
  });
  await page.goto(await address);
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  expect(await ended, printed).toBe(0);
  expect(printed).not.toMatch(/FAILURE|SKIPPED/);
});
