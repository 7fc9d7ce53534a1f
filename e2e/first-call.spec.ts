import { execFile, execFileSync } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { test as base, expect, type Page } from '@playwright/test';
import { type OwnSystem, startOwnSystem } from './isolated-system.ts';
import { accessible, hydrated } from './person.ts';
import { startUpstream } from './running-system.ts';

/**
 * J1: a stranger signs up in a browser on a fresh installation and sends traffic with an injected secret. The system is this file's own: only the first
 * account of an installation needs no mail.
 */
const test = base.extend<object, { system: OwnSystem }>({
  system: [
    async ({ playwright: _ }, use) => {
      const system = await startOwnSystem();
      await use(system);
      await system.remove();
    },
    { scope: 'worker', timeout: 600_000 },
  ],
  baseURL: ({ system }, use) => use(system.admin),
});
test.describe.configure({ mode: 'serial' });

const person = { workspace: 'Analytical Engines', name: 'Ada Lovelace', email: 'ada@example.com', password: 'poetical science of 1843' };

function failOnConsoleErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  return errors;
}

test('J1: sign up, paste one line, watch the call arrive with its credential injected, then connect another API', async ({ page }) => {
  const errors = failOnConsoleErrors(page);
  await page.goto('/signup');
  await hydrated(page);
  await accessible(page);
  await page.getByLabel('Workspace').fill(person.workspace);
  await page.getByLabel('Your name').fill(person.name);
  await page.getByLabel('Email').fill(person.email);
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Create workspace' }).click();
  await page.waitForURL('**/analytical-engines/test');

  // One filled-in line, in three languages, and a place that waits.
  const code = page.locator('pre').first();
  await expect(code).toContainText(/tk_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{51}/);
  await expect(page.getByText('Waiting for your call')).toBeVisible();
  await accessible(page);
  const line = (await code.innerText()).replaceAll('\u00a0', ' ');
  const languages = page.getByRole('group', { name: 'Language' }).first();
  for (const language of ['Node', 'Python']) await expect(languages.getByRole('button', { name: language })).toBeVisible();

  // A refused call is shown with its reason, is not celebrated, and ticks nothing off.
  await expect(page.getByRole('button', { name: 'Copy curl code' })).toBeEnabled();
  execFileSync('bash', ['-c', `${line.replace(/^\$ /, '').replace(/tk_test_\w+/, 'tk_test_unknown')} -s`]);
  await expect(page.getByRole('heading', { name: 'The gateway refused your call' })).toBeVisible();
  const firstStep = page.getByRole('listitem').filter({ hasText: 'Make your first call' });
  await expect(firstStep).toContainText('to do');
  await accessible(page);

  const answer = JSON.parse(execFileSync('bash', ['-c', `${line.replace(/^\$ /, '')} -s`], { encoding: 'utf8' })) as {
    headers: Record<string, string>;
  };
  expect(answer.headers['x-demo-key'], 'the upstream shows which secret was injected').toBe('[redacted:secret:SAMPLE_API_KEY]');
  expect(answer.headers['x-svc-key']).toBeUndefined();

  // The call arrives without a reload and opens into the inspector.
  await expect(page.getByText('Your call succeeded.')).toBeAttached();
  await expect(page.getByText('Your first call succeeded')).toBeVisible();
  await expect(firstStep).toContainText('done');
  await expect(page.getByText('X-Demo-Key', { exact: false }).first()).toBeVisible();
  await expect(page.getByText('SAMPLE_API_KEY').first()).toBeVisible();
  await accessible(page);

  // Two questions, and the next line calls an upstream of one's own, with a credential that was typed here.
  const upstream = await startUpstream();
  await page.getByLabel('API base URL').fill(upstream.url);
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await page.getByRole('radio', { name: /Custom header/ }).click();
  await page.getByLabel('Header name').fill('X-Engine-Key');
  await page.getByLabel(/^Credential/).fill('typed-in-the-browser');
  await page.getByRole('button', { name: 'Create route' }).click();
  await expect(page.getByText('my-api is ready')).toBeVisible();
  const own = (await page.locator('pre', { hasText: 'my-api' }).first().innerText()).replaceAll('\u00a0', ' ');
  await promisify(execFile)('bash', ['-c', `${own.replace(/^\$ /, '')} -s`]);
  expect(upstream.seen.map(({ headers }) => [headers['x-engine-key'], headers['x-svc-key']])).toEqual([
    ['typed-in-the-browser', undefined],
  ]);
  upstream.close();
  expect(await page.content(), 'the credential is gone from the page').not.toContain('typed-in-the-browser');

  // What differs in Live is said before anybody goes there.
  const differences = page.getByRole('table', { name: 'Differences between Test and Live' });
  for (const [what, live] of [
    ['Address', 'analytical-engines'],
    ['Keys', 'Live keys'],
    ['Secrets', 'none are copied'],
    ['Routes', 'Routes you promote'],
  ] as const)
    await expect(differences.getByRole('row', { name: new RegExp(`^${what}`) })).toContainText(live);
  await expect(page.getByRole('main').getByRole('link', { name: 'Promote to Live' })).toHaveAttribute(
    'href',
    '/analytical-engines/test/promote',
  );
  await accessible(page);
  expect(errors).toEqual([]);

  // After a reload the key is gone for good.
  const key = line.match(/tk_test_[0-9A-Za-z_]+/)?.[0] ?? '';
  await page.reload();
  await expect(page.getByRole('navigation').first()).toBeVisible();
  await expect(differences, 'what is different in Live stays until Live has something').toBeVisible();
  expect(await page.content()).not.toContain(key);
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(kept).not.toContain(key);
});

test('J1: a route to an upstream of one’s own, made in the browser, injects a secret typed there', async ({ page, system }) => {
  const seen: http.IncomingHttpHeaders[] = [];
  const upstream = http.createServer((req, res) => {
    seen.push(req.headers);
    res.setHeader('content-type', 'application/json');
    res.end('{"hello":"from your upstream"}');
  });
  await new Promise<void>((listening) => upstream.listen(0, '127.0.0.1', listening));
  const port = (upstream.address() as AddressInfo).port;
  const errors = failOnConsoleErrors(page);
  try {
    await signIn(page);
    const made = await page.evaluate(
      async ({ port }) => {
        const me = (await (await fetch('/auth/me')).json()) as { csrf_token: string };
        const send = async (path: string, body: unknown) => {
          const response = await fetch(path, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              'x-csrf-token': me.csrf_token,
              'x-svc-space': 'test',
              'x-tenant-id': 'analytical-engines',
            },
            body: JSON.stringify(body),
          });
          return (await response.json()) as { result?: { data: Record<string, string> }; error?: unknown };
        };
        const secret = await send('/admin/trpc/secrets.create', { name: 'MY_KEY', value: 'typed-in-the-browser' });
        const route = await send('/admin/trpc/routes.create', {
          name: 'Mine',
          target_base_url: `http://127.0.0.1:${port}`,
          inject_headers_json: { 'X-Api-Token': '{{secret:MY_KEY}}' },
        });
        const created = await send('/admin/trpc/apiKeys.create', { name: 'mine' });
        return { secret, route, key: created.result?.data.api_key ?? JSON.stringify(created) };
      },
      { port },
    );
    expect(made.key).toMatch(/^tk_test_/);
    const response = await fetch(`${system.proxy}/p/sandbox-analytical-engines/mine/x`, {
      headers: { 'x-svc-key': made.key },
    });
    expect(await response.json()).toEqual({ hello: 'from your upstream' });
    expect(seen[0]?.['x-api-token']).toBe('typed-in-the-browser');
    await page.goto('/analytical-engines/test/routes');
    await expect(page.getByText('Mine').first()).toBeVisible();
    expect(errors).toEqual([]);
  } finally {
    upstream.close();
  }
});

test('J1: the first call of Live is a live one: its own route, a live key made on request, and no demonstration', async ({ page }) => {
  await signIn(page);
  await page.evaluate(async () => {
    const me = (await (await fetch('/auth/me')).json()) as { csrf_token: string };
    const headers = {
      'content-type': 'application/json',
      'x-csrf-token': me.csrf_token,
      'x-svc-space': 'live',
      'x-tenant-id': 'analytical-engines',
    };
    const body = JSON.stringify({ name: 'Orders', target_base_url: 'https://example.com' });
    await fetch('/admin/trpc/routes.create', { method: 'POST', headers, body });
  });
  // Without the live stream the call still appears.
  await page.route(/\/admin\/logs\/tail/, (route) => route.abort());
  await page.goto('/analytical-engines/live');
  await hydrated(page);
  await expect(page.getByRole('heading', { name: 'Make your first live call' })).toBeVisible();
  const code = page.locator('pre').first();
  await expect(code).toContainText('/p/analytical-engines/orders/');
  await expect(code, 'no live key is made by looking at a page').toContainText('YOUR_LIVE_KEY');
  await expect(page.getByRole('main')).not.toContainText(/test key|demo upstream/i);
  const copy = page.getByRole('button', { name: 'Copy curl code' });
  await expect(copy, 'a command without a key is not worth copying').toHaveAttribute('aria-disabled', 'true');
  await page.getByRole('button', { name: 'Create live key' }).click();
  await expect(code).toContainText(/tk_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{51}/);
  await expect(copy).not.toHaveAttribute('aria-disabled');
  const line = (await code.innerText()).replaceAll('\u00a0', ' ').replace('/orders/', '/no-such-route/');
  execFileSync('bash', ['-c', `${line.replace(/^\$ /, '')} -s`]);
  await expect(page.getByRole('heading', { name: 'The gateway refused your call' })).toBeVisible();
});

async function signIn(page: Page): Promise<void> {
  await page.goto('/signin');
  await hydrated(page);
  await page.getByLabel('Email').fill(person.email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/analytical-engines/test');
}
