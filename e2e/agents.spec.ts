import { type ChildProcess, execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { type BrowserContext, expect, type Page, test } from '@playwright/test';
import { freePort } from '../scripts/ports.ts';
import { addPasskey, virtualAuthenticator } from './authenticator.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, unique } from './running-system.ts';

/**
 * E4: an agent is installed on a host with the line of its page, turns green there, and carries curl and Node’s fetch through a route, which puts the secret
 * in. Revoked on the page, it stops.
 */
test.describe.configure({ mode: 'serial' });

const slug = unique('on-hosts');
const person = { email: `owner@${slug}.example`, password: 'eight lamps on the landing' };
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-journey-'));
const home = path.join(folder, 'agent');
/** A host of a route must have a name that isn't the service's own, and be on its scheme's own port, to be recognised. */
const HOST = 'payments.localhost';
const seen: { url: string; authorization: string | undefined; token: string | undefined; body: string }[] = [];
const upstream = http.createServer((req, res) => {
  // The worker asks every upstream for its icon, at a time of its own.
  if (req.headers['user-agent'] === 'Sallyport-Icons') return void res.writeHead(404).end();
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const token = req.headers['x-svc-agent-token'];
    seen.push({
      url: req.url ?? '',
      authorization: req.headers.authorization,
      token: typeof token === 'string' ? token : undefined,
      body: Buffer.concat(chunks).toString(),
    });
    res.writeHead(200, { 'content-type': 'text/plain' }).end('upstream');
  });
});
let listening = false;
let agent: ChildProcess | undefined;
let said = '';
let exited: Promise<number | null> = Promise.resolve(null);
let port = 0;
/** The session of the first part: with a passkey, signing in takes one. */
let cookies: Awaited<ReturnType<BrowserContext['cookies']>> = [];

test.beforeAll(async () => {
  listening = await new Promise<boolean>((resolve) => {
    upstream.once('error', () => resolve(false));
    upstream.listen(80, '127.0.0.1', () => resolve(true));
  });
  port = await freePort();
  await createWorkspace(slug, person);
});
test.afterAll(() => {
  agent?.kill('SIGKILL');
  upstream.close();
  upstream.closeAllConnections();
  fs.rmSync(folder, { recursive: true, force: true });
});

type Ran = { code: number; out: string; err: string };
const run = (command: string, env: Record<string, string> = {}) =>
  new Promise<Ran>((resolve) => {
    execFile('bash', ['-c', command], { cwd: folder, env: { ...process.env, ...env }, timeout: 60_000 }, (error, out, err) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, out, err }),
    );
  });

async function makeRoute(key: string): Promise<void> {
  const api = setting('E2E_API_URL');
  const secret = await json(`${api}/v1/secrets`, { key, body: { name: 'UPSTREAM_KEY', value: 'swordfish' } });
  expect(secret.status, secret.text).toBe(201);
  const route = await json(`${api}/v1/routes`, {
    key,
    body: {
      name: 'Payments',
      slug: 'payments',
      target_base_url: `http://${HOST}/v1`,
      intercept_enabled: true,
      inject_headers_json: { authorization: 'Bearer {{secret:UPSTREAM_KEY}}' },
    },
  });
  expect(route.status, route.text).toBe(201);
}

async function createAgent(page: Page, device: Awaited<ReturnType<typeof virtualAuthenticator>>): Promise<void> {
  await page.goto(`/${slug}/live/agents`);
  await expect(page.getByRole('heading', { name: 'No agents yet' })).toBeVisible();
  await accessible(page, 'without agents');
  await page.getByRole('button', { name: 'Create an intercept agent' }).click();
  const sheet = page.getByRole('dialog', { name: 'New agent' });
  await sheet.getByLabel('Name', { exact: true }).fill('build-7');
  await accessible(page, 'the form of an agent');
  await device.presentFor(async () => {
    await sheet.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await expect(page.getByRole('heading', { name: 'build-7' })).toBeVisible();
  });
  await expect(page.getByText('Waiting for the agent…')).toBeVisible();
}

test('E4: installed with the line of the page, the agent turns green and doctor finds nothing wrong', async ({ page, context }) => {
  const { api_key: key = '' } = await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure']);
  await makeRoute(key);
  await signIn(page, person, slug);
  const device = await virtualAuthenticator(page);
  await addPasskey(page, device, person.email);
  await createAgent(page, device);

  await device.presentFor(async () => {
    await page.getByRole('button', { name: 'Create install token' }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await expect(page.getByRole('button', { name: /Copy token/ })).toBeVisible();
  });
  await accessible(page, 'an install token');
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: /Copy token/ }).click();
  const token = await page.evaluate(() => navigator.clipboard.readText());
  expect(token).toMatch(/^svc_ait_[\w-]{43}$/);
  expect(await page.content()).not.toContain(token);

  const line = ((await page.locator('figure pre').first().textContent()) ?? '').trim();
  expect(line).toContain('/agent/install.sh');
  const installed = await run(`${line} --prefix ${home} --no-service`, { SVC_INSTALL_TOKEN: token });
  expect(installed.code, installed.out + installed.err).toBe(0);
  expect(fs.statSync(path.join(home, 'credentials.json')).mode & 0o777).toBe(0o600);
  expect(installed.out + installed.err).not.toContain('svc_as_');

  agent = spawn(process.execPath, [path.join(home, 'agent.mjs'), 'run'], {
    env: {
      ...process.env,
      SVC_AGENT_HOME: home,
      SVC_AGENT_PORT: String(port),
      SVC_AGENT_HEARTBEAT_SECONDS: '2',
      SVC_AGENT_MANIFEST_SECONDS: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [agent.stdout, agent.stderr]) stream?.on('data', (bytes: Buffer) => (said += bytes.toString()));
  exited = new Promise((resolve) => agent?.on('close', resolve));
  await expect(page.getByText('The agent is connected'), said).toBeVisible();
  await expect(page.getByText('forward proxy')).toBeVisible();
  await accessible(page, 'a connected agent');
  await expect(page.getByText('Used', { exact: true })).toBeVisible();
  cookies = await context.cookies();
});

test('E4: curl and Node on that host go through the route, and what no route covers passes', async () => {
  test.skip(!listening, 'port 80 takes rights that this account doesn’t have');
  const lines = await run(`"${process.execPath}" "${home}/agent.mjs" env`, { SVC_AGENT_HOME: home, SVC_AGENT_PORT: String(port) });
  fs.writeFileSync(path.join(folder, 'agent.env'), lines.out.replace(/^export NO_PROXY=.*$/m, 'export NO_PROXY='));
  const within = (command: string) => run(`. ./agent.env; ${command}`);

  const plain = await within(`curl -sS --max-time 20 -d amount=5 'http://${HOST}/v1/charges?x=1&x=2'`);
  expect(plain.out, plain.err + said).toBe('upstream');
  expect(seen.at(-1)).toEqual({ url: '/v1/charges?x=1&x=2', authorization: 'Bearer swordfish', token: undefined, body: 'amount=5' });

  const secure = await within(`curl -sS --max-time 20 'https://${HOST}/v1/secure'`);
  expect(secure.out, secure.err + said).toBe('upstream');
  expect(seen.at(-1)?.authorization).toBe('Bearer swordfish');

  const script = `fetch('https://${HOST}/v1/node').then((r) => r.text()).then(console.log)`;
  const node = await within(`"${process.execPath}" -e "${script}"`);
  expect(node.out.trim(), node.err + said).toBe('upstream');
  expect(seen.at(-1)).toMatchObject({ url: '/v1/node', authorization: 'Bearer swordfish' });

  const other = await within(`curl -sS --max-time 20 'http://127.0.0.1/v2/other'`);
  expect(other.out, other.err + said).toBe('upstream');
  expect(seen.at(-1)).toMatchObject({ url: '/v2/other', authorization: undefined });
});

test('E4: the pages tell what it did, and revoking stops it', async ({ page, context }) => {
  await context.addCookies(cookies);
  await page.goto(`/${slug}/live/agents`);
  await expect(page.getByRole('row', { name: /build-7/ })).toContainText('Online');
  await accessible(page, 'the list of agents');
  await page.getByRole('link', { name: 'build-7' }).click();
  await expect(page.getByText('127.0.0.1:')).toBeVisible();
  await accessible(page, 'the overview');
  for (const tab of ['routes', 'commands', 'logs', 'security']) {
    await page.goto(`${page.url().split('?')[0]}?tab=${tab}`);
    await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible();
    await accessible(page, tab);
  }
  await page.getByRole('button', { name: 'Revoke agent' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('build-7');
  await dialog.getByRole('button', { name: 'Revoke agent' }).click();
  await expect(page.getByText('Revoked', { exact: true }).first()).toBeVisible();
  expect(await Promise.race([exited, new Promise((late) => setTimeout(() => late('still running'), 15_000))]), said).toBe(3);
  expect(fs.existsSync(path.join(home, 'bundle.json'))).toBe(false);
  expect(said).not.toMatch(/svc_as_|svc_ast_|svc_ait_/);
});
