import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { clientCredentials, createDpopKey, createSallyport } from '../sdk/index.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, operator, setting, startUpstream, unique, until } from './running-system.ts';

/** O1: a person signs in from a terminal of a fresh machine, calls a route and sees the call in the log. */

const slug = unique('terminal');
const owner = { email: `owner@${slug}.example`, password: 'a moth in relay number 70' };
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'sp-cli-'));

test.beforeAll(async () => {
  await createWorkspace(slug, owner);
});
test.afterAll(() => fs.rmSync(home, { recursive: true, force: true }));

type Running = { child: ChildProcessWithoutNullStreams; said: () => { out: string; err: string }; ended: Promise<number | null> };

/** A command as typed in a shell of the fresh machine. */
function start(...args: string[]): Running {
  const child = spawn(process.execPath, [path.resolve('sdk/cli/service-cli.mjs'), ...args], {
    env: { HOME: home, PATH: process.env.PATH } as never,
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.end();
  return { child, said: () => ({ out, err }), ended: new Promise((resolve) => child.on('close', resolve)) };
}

async function cli(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const running = start(...args);
  return { code: await running.ended, ...running.said() };
}

async function done(...args: string[]): Promise<string> {
  const { code, out, err } = await cli(...args);
  expect(code, `service-cli ${args.join(' ')}: ${err}`).toBe(0);
  return out;
}

/** Signs in by the address that the command prints, in a browser where the person has a session. */
async function loginInBrowser(page: Page, ...args: string[]): Promise<void> {
  const login = start('login', '--host', setting('E2E_SANDBOX_API_URL'), ...args);
  const address = () => /http\S+\/oauth\/authorize\S+/.exec(login.said().err)?.[0];
  await until('the command prints where to sign in', () => address() !== undefined);
  await page.goto(address() ?? '');
  await expect(page.getByRole('heading', { name: /^Allow .+ to use your account/ })).toBeVisible();
  await accessible(page, 'a terminal asks to sign in');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'You’re signed in' })).toBeVisible();
  await accessible(page, 'the end of a login');
  expect(await login.ended, login.said().err).toBe(0);
  expect(login.said().err).toContain(`Signed in to ${slug} (Test) as profile "${slug}-test"`);
}

type Stored = { profiles: Record<string, { expires_at: string; access_token: string; refresh_token: string; dpop_key?: object }> };
const credentials = path.join(home, '.config/sallyport/credentials.json');
const stored = () => JSON.parse(fs.readFileSync(credentials, 'utf8')) as Stored;
const login = () => stored().profiles[`${slug}-test`] as Stored['profiles'][string];

test('O1: a fresh machine signs in with the browser, lists routes, calls one, and the followed log shows the call', async ({ page }) => {
  const upstream = await startUpstream();
  await signIn(page, owner, slug);
  expect((await cli('routes', 'list')).code, 'nobody is signed in yet').toBe(3);
  await loginInBrowser(page);
  expect(fs.statSync(credentials).mode & 0o777).toBe(0o600);
  expect(login().dpop_key, 'the login is bound to a key of this machine').toBeDefined();
  expect(await done('whoami')).toContain(slug);

  await done('routes', 'create', '--name', 'Orders', '--target-base-url', upstream.url);
  expect(await done('routes', 'list')).toContain('orders');
  const follow = start('logs', '--follow');
  await until('the log is followed', () => follow.said().err.includes('Waiting for calls'));
  const answer = JSON.parse(await done('call', 'orders', '/hello?from=terminal', '--data', '{"a":1}')) as { url: string; body: string };
  expect(answer).toMatchObject({ url: '/hello?from=terminal', body: '{"a":1}' });
  expect(JSON.stringify(upstream.seen), 'the upstream sees nothing of the login').not.toContain(login().access_token);
  await until('the log shows the call', () => /200 POST +orders \/hello\?from=terminal/.test(follow.said().out));
  follow.child.kill('SIGINT');
  expect(await follow.ended).toBe(130);
  upstream.close();
});

test('an ended token is renewed once by commands that run at the same time, and the login lives on', async ({ page }) => {
  await signIn(page, owner, slug);
  await loginInBrowser(page);
  const before = login();
  const past = stored();
  for (const profile of Object.values(past.profiles)) profile.expires_at = new Date(0).toISOString();
  fs.writeFileSync(credentials, JSON.stringify(past));
  const ended = await Promise.all([1, 2, 3, 4].map(() => cli('whoami')));
  expect(ended.map(({ code, err }) => [code, err])).toEqual(ended.map(() => [0, '']));
  expect(login().refresh_token).not.toBe(before.refresh_token);
  expect((await cli('environments', 'list')).code, 'a second refresh would have ended the family').toBe(0);
  await done('logout');
  expect((await cli('whoami')).code).toBe(3);
});

test('a machine without a browser signs in by a code that is approved elsewhere', async ({ page }) => {
  await signIn(page, owner, slug);
  const device = start('login', '--device', '--host', setting('E2E_SANDBOX_API_URL'));
  const shown = () => /^ +([A-Z]{4}-[A-Z]{4})$/m.exec(device.said().err)?.[1];
  await until('the command shows a code', () => shown() !== undefined);
  await page.goto(`${setting('E2E_SANDBOX_API_URL')}/oauth/activate`);
  await page.getByLabel('Code').fill(shown() ?? '');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Approve' }).click();
  expect(await device.ended, device.said().err).toBe(0);
  expect(await done('environments', 'list')).toContain('production');
});

test('a program gets tokens for its key, bound to a key of its own, and renews them', async () => {
  const { api_key = '' } = await operator(['create-key', '--slug', slug, '--space', 'test', '--role', 'Key - Infrastructure']);
  const [, client_id = '', client_secret = ''] = /^(tk_test_[^_]+)_(.+)$/.exec(api_key) ?? [];
  const origin = setting('E2E_SANDBOX_API_URL');
  const credential = clientCredentials({ origin }, { client_id, client_secret, scope: 'environments:read', key: await createDpopKey() });
  const sallyport = createSallyport({ base_url: origin, credential });
  expect((await sallyport.environments.list()).data.map(({ name }) => name)).toContain('production');
  const { text } = await credential.token();
  expect((await credential.token(text)).text, 'a refused token is replaced').not.toBe(text);
  await expect(sallyport.routes.list()).rejects.toMatchObject({ type: 'forbidden', status: 403 });
  await expect(
    createSallyport({ base_url: origin, credential: text }).environments.list(),
    'without its key a token is nothing',
  ).rejects.toMatchObject({
    status: 401,
  });
});
