import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import { type OwnSystem, startOwnSystem } from './isolated-system.ts';
import { json, operator, setting, startUpstream, type Upstream, unique, until } from './running-system.ts';

/**
 * G2: a repository holds the configuration of a workspace. Applied to an installation that is empty it gives the same system, and what somebody changes there by
 * hand shows as drift until it is applied again.
 */
test.describe.configure({ mode: 'serial' });

const slug = unique('declared');
const repository = fs.mkdtempSync(path.join(os.tmpdir(), 'sp-repository-'));
/** What a pipeline has in its environment. */
const values = { PARTNER_KEY: 'the partner key of production', PARTNER_KEY_STAGING: 'the partner key of staging' };
let upstream: Upstream;
let empty: OwnSystem;
type Place = { api: string; proxy: string; key: string };
let first: Place;
let second: Place;

const files = (target: string) => ({
  'environments.yaml': `format: 1
environments:
  - { name: production, is_default: true }
  - { name: staging, color: '#ABCDEF' }
`,
  'secrets.yaml': `format: 1
secrets:
  - name: PARTNER_KEY
    value_from: { env: PARTNER_KEY }
    environments:
      staging: { value_from: { env: PARTNER_KEY_STAGING } }
`,
  'payments.yaml': `format: 1
collections:
  - name: Payments
    description: Everything about money
    variables:
      region: { value: eu }
clients:
  - { name: Backend, ip_address: 127.0.0.1, collection: Payments }
  - { name: Archive, ip_address: 203.0.113.9/24, enabled: false }
routes:
  - name: Orders
    slug: orders
    collection: Payments
    target_base_url: ${target}/live
    inject_headers_json: { Authorization: 'Bearer {{secret:PARTNER_KEY}}', X-Region: '{{var:region}}' }
    allowed_methods: [GET, POST]
    rate_limit_enabled: true
    rate_limit_requests: 100
    rate_limit_window_sec: 60
    requires_clients: true
    clients: [Backend]
    environments:
      staging:
        target_base_url: ${target}/staging
        requires_clients: false
    actions:
      - { direction: response, action: mask, selectors: [$.card.number], mask: last4 }
`,
});

/** service-cli as the pipeline of a repository runs it. */
function cli({ api, key }: Place, ...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const env = { HOME: repository, PATH: process.env.PATH, SERVICE_API_KEY: key, SERVICE_BASE_URL: api, ...values };
  const child = spawn(process.execPath, [path.resolve('sdk/cli/service-cli.mjs'), ...args], { cwd: repository, env: env as never });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.end();
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

/** What reaches the upstream of a call, and what comes back. */
async function called({ proxy, key }: Place, environment: string, method = 'POST') {
  const seen = upstream.seen.length;
  const { status, text } = await json(`${proxy}/p/${slug}/orders/charges?x=1`, {
    method,
    headers: { 'x-svc-key': key, 'x-svc-environment': environment },
    ...(method === 'POST' && { body: { amount: 5 } }),
  });
  const reached = upstream.seen.slice(seen).map(({ url, headers, body }) => [url, headers.authorization, headers['x-region'], body]);
  return { status, text, reached };
}

test.beforeAll(async () => {
  upstream = await startUpstream((_, res) =>
    res.setHeader('content-type', 'application/json').end('{"card":{"number":"4242424242424242"}}'),
  );
  for (const [name, text] of Object.entries(files(upstream.url))) {
    fs.mkdirSync(path.dirname(path.join(repository, 'config', name)), { recursive: true });
    fs.writeFileSync(path.join(repository, 'config', name), text);
  }
  empty = await startOwnSystem();
  const keyOf = async (command: OwnSystem['command']) => {
    await command(['create-tenant', '--slug', slug, '--plan', 'pro']);
    return (await command(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure'])).api_key ?? '';
  };
  first = { api: setting('E2E_API_URL'), proxy: `http://127.0.0.1:${setting('E2E_PROXY_PORT')}`, key: await keyOf(operator) };
  second = { api: empty.api, proxy: empty.proxy, key: await keyOf(empty.command) };
});
test.afterAll(async () => {
  upstream?.close();
  await empty?.remove();
  fs.rmSync(repository, { recursive: true, force: true });
});

test('G2: a repository that is applied to an empty installation gives the same system', async () => {
  for (const place of [first, second]) {
    const ahead = await cli(place, 'diff', '-f', 'config');
    expect(ahead.code, ahead.err).toBe(2);
    const applied = await cli(place, 'apply', '-f', 'config', '--yes');
    expect(applied.code, applied.err + applied.out).toBe(0);
    const again = await cli(place, 'apply', '-f', 'config');
    expect([again.code, again.out], again.err).toEqual([0, expect.stringContaining('nothing to do')]);
  }
  const [here, there] = [await cli(first, 'export'), await cli(second, 'export')];
  expect([here.code, there.code], here.err + there.err).toEqual([0, 0]);
  expect(there.out).toBe(here.out);
  expect(here.out).toContain('Everything about money');
  for (const value of Object.values(values)) expect(here.out).not.toContain(value);

  await until(
    'both serve',
    async () => (await called(first, 'production')).status === 200 && (await called(second, 'production')).status === 200,
  );
  for (const [environment, method] of [
    ['production', 'POST'],
    ['staging', 'POST'],
    ['production', 'DELETE'],
    ['nowhere', 'POST'],
  ] as const) {
    const [mine, theirs] = [await called(first, environment, method), await called(second, environment, method)];
    expect([theirs.status, theirs.reached], `${method} in ${environment}`).toEqual([mine.status, mine.reached]);
  }
  expect(await called(second, 'production')).toEqual({
    status: 200,
    text: expect.stringMatching(/^\{"card":\{"number":"\*+4242"\}\}$/),
    reached: [['/live/charges?x=1', `Bearer ${values.PARTNER_KEY}`, 'eu', '{"amount":5}']],
  });
  expect((await called(second, 'staging')).reached).toEqual([
    ['/staging/charges?x=1', `Bearer ${values.PARTNER_KEY_STAGING}`, 'eu', '{"amount":5}'],
  ]);
});

test('G2: what somebody changes there by hand shows as drift, and applying the repository takes it back', async () => {
  const change = {
    method: 'PATCH',
    key: second.key,
    body: { requires_clients: false, rate_limit_requests: 5, allowed_methods: ['DELETE'] },
  };
  expect((await json(`${second.api}/v1/routes/orders`, change)).status).toBe(200);
  const drift = await cli(second, 'diff', '-f', 'config');
  expect(drift.code, drift.err).toBe(2);
  for (const line of ['~ update route Orders', 'requires_clients: false → true', 'rate_limit_requests: 5 → 100', '"DELETE"'])
    expect(drift.out).toContain(line);
  expect((await cli(first, 'diff', '-f', 'config')).code, 'nobody changed the first').toBe(0);
  expect((await cli(second, 'apply', '-f', 'config', '--yes')).code).toBe(0);
  expect((await cli(second, 'diff', '-f', 'config')).code).toBe(0);
  expect((await cli(second, 'export')).out).toBe((await cli(first, 'export')).out);
  await until('calls are as they were', async () => (await called(second, 'production')).status === 200);
});
