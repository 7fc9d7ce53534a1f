import http from 'node:http';
import { expect, test } from '@playwright/test';
import { json, logged, setting, startUpstream, unique, until } from './running-system.ts';

/** J2: a whole installation of routes by the API alone, from sign-up to a call that reaches the staging upstream with the staging secret. */
const [E2E_ADMIN_URL, E2E_API_URL, E2E_SANDBOX_API_URL, E2E_PROXY_PORT] = [
  'E2E_ADMIN_URL',
  'E2E_API_URL',
  'E2E_SANDBOX_API_URL',
  'E2E_PROXY_PORT',
].map(setting) as [string, string, string, string];

const upstream = (name: string) =>
  startUpstream((req, res) => res.setHeader('content-type', 'application/json').end(JSON.stringify({ upstream: name, path: req.url })));

async function mailedLink(email: string): Promise<string> {
  let link: string | undefined;
  await until('the mail is there', async () => {
    const { mails } = (await json(`${E2E_ADMIN_URL}/auth/mailbox`)).body as { mails: { recipient: string; text: string }[] };
    link = mails.find(({ recipient }) => recipient === email)?.text.match(/https?:\/\/\S+token=[A-Za-z0-9_-]{43}/)?.[0];
    return link !== undefined;
  });
  return link as unknown as string;
}

test('J2: sign up headless, build by the API, call staging, and find it in logs, audit and usage', async () => {
  const slug = unique('headless-sons');
  const email = `j2@${slug}.example`;

  const started = await json(`${E2E_API_URL}/v1/signup`, {
    body: { email, tenant_name: slug.replace('headless-sons', 'Headless & Sons') },
  });
  expect(started.status).toBe(202);
  const { claim_handle } = started.body.data;
  expect((await json(`${E2E_API_URL}/v1/signup/claim`, { body: { claim_handle } })).status).toBe(202);

  const token = new URL(await mailedLink(email)).searchParams.get('token') ?? '';
  const confirmed = await fetch(`${E2E_ADMIN_URL}/auth/magic`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: E2E_ADMIN_URL },
    body: new URLSearchParams({ token }),
  });
  expect(confirmed.status).toBe(303);

  const [first, second] = await Promise.all([1, 2].map(() => json(`${E2E_API_URL}/v1/signup/claim`, { body: { claim_handle } })));
  expect([first?.status, second?.status].sort()).toEqual([200, 409]);
  const ready = (first?.status === 200 ? first : second)?.body.data;
  const key: string = ready.starter.api_key.api_key;
  expect(ready.tenant.slug).toBe(slug);
  expect(key).toMatch(/^tk_test_/);

  const api = `${E2E_SANDBOX_API_URL}/v1`;
  expect((await json(`${E2E_API_URL}/v1/account`, { key })).body.error.type).toBe('wrong_key_type');
  const staging = await json(`${api}/environments`, { key, body: { name: 'staging' }, headers: { 'idempotency-key': 'env-1' } });
  expect(staging.status).toBe(201);
  const [production, stagingUpstream] = await Promise.all([upstream('production'), upstream('staging')]);
  try {
    const secret = await json(`${api}/secrets`, { key, body: { name: 'PARTNER_KEY', value: 'production-value-1' } });
    expect(secret.status).toBe(201);
    expect(
      (
        await json(`${api}/secrets/${secret.body.data.id}/value`, {
          method: 'PUT',
          key,
          body: { value: 'staging-value-2', environment: 'staging' },
        })
      ).body.data.value_version,
    ).toBe(1);
    const client = await json(`${api}/clients`, { key, body: { name: 'this machine', ip_address: '127.0.0.1' } });
    expect(client.status).toBe(201);

    const route = await json(`${api}/routes`, {
      key,
      body: {
        name: 'Orders API',
        target_base_url: `${production.url}/base`,
        inject_headers_json: { Authorization: 'Bearer {{secret:PARTNER_KEY}}' },
        requires_clients: true,
        rate_limit_enabled: true,
        rate_limit_requests: 100,
        rate_limit_window_sec: 60,
      },
    });
    expect(route.status).toBe(201);
    const id = route.body.data.id;
    expect(
      (
        await json(`${api}/routes/${id}/environments/staging`, {
          method: 'PUT',
          key,
          body: { target_base_url: `${stagingUpstream.url}/v2` },
        })
      ).status,
    ).toBe(201);
    for (const env of ['production', 'staging']) {
      expect(
        (await json(`${api}/routes/${id}/environments/${env}/clients`, { method: 'PUT', key, body: { client_ids: [client.body.data.id] } }))
          .status,
      ).toBe(200);
    }

    const proxy = `http://localhost:${E2E_PROXY_PORT}/p/sandbox-${slug}/orders-api`;
    const call = await json(`${proxy}/charges?limit=10`, { headers: { 'x-svc-key': key, 'x-svc-environment': 'staging' } });
    expect(call.status).toBe(200);
    expect(call.body).toEqual({ upstream: 'staging', path: '/v2/charges?limit=10' });
    expect(stagingUpstream.seen[0]?.headers.authorization).toBe('Bearer staging-value-2');
    expect(Object.keys(stagingUpstream.seen[0]?.headers ?? {}).filter((h) => h.startsWith('x-svc-'))).toEqual([]);
    expect(call.headers.get('x-svc-origin')).toBe('upstream');
    expect(call.headers.get('x-svc-sandbox')).toBe('true');
    expect(call.headers.get('x-svc-ratelimit-route')).toMatch(/^limit=100, remaining=99, reset=/);
    const requestId = call.headers.get('x-svc-request-id');

    // The same call by Host header, and without an environment.
    const byHost = await new Promise<string>((done, fail) => {
      http
        .get(
          {
            host: '127.0.0.1',
            port: E2E_PROXY_PORT,
            path: '/orders-api/charges',
            headers: { host: `sandbox-${slug}.localhost`, 'x-svc-key': key },
          },
          (res) => {
            let text = '';
            res.on('data', (chunk) => {
              text += chunk;
            });
            res.on('end', () => done(text));
          },
        )
        .on('error', fail);
    });
    expect(JSON.parse(byHost)).toEqual({ upstream: 'production', path: '/base/charges' });
    expect(production.seen[0]?.headers.authorization).toBe('Bearer production-value-1');

    // A change is visible on the very next call.
    await json(`${api}/routes/${id}`, { method: 'PATCH', key, body: { enabled: false } });
    expect((await json(`${proxy}/charges`, { headers: { 'x-svc-key': key } })).body.error.type).toBe('route_not_found');
    await json(`${api}/routes/${id}`, { method: 'PATCH', key, body: { enabled: true } });
    const again = await json(`${proxy}/charges`, { headers: { 'x-svc-key': key } });
    expect(again.status).toBe(200);

    await logged(E2E_SANDBOX_API_URL, key, [call, again]);
    const log = await json(`${api}/logs/${requestId}`, { key });
    expect(log.body.data).toMatchObject({ request_id: requestId, environment: 'staging', status_code: 200, proxy_mode: 'route' });
    const logs = await json(`${api}/routes/orders-api/logs`, { key });
    expect(logs.body.meta.total).toBeGreaterThanOrEqual(3);
    const audit = await json(`${api}/audit-logs?resource_type=route`, { key });
    expect(audit.body.data.map((e: { action: string }) => e.action)).toEqual(expect.arrayContaining(['create', 'enable', 'disable']));
    const usage = await json(`${api}/account/usage`, { key });
    expect(usage.body.data.api_calls.used).toBe(0);
    expect(usage.body.data.resources.routes.used).toBe(2);

    // Nothing anywhere shows a value that was stored.
    for (const answer of [secret, route, logs, audit, usage]) {
      expect(JSON.stringify(answer.body)).not.toMatch(/production-value-1|staging-value-2/);
    }
  } finally {
    production.close();
    stagingUpstream.close();
  }
});

test('J4: plain localhost ports answer, each its own plane', async () => {
  for (const origin of [E2E_API_URL, E2E_SANDBOX_API_URL, E2E_ADMIN_URL, `http://localhost:${E2E_PROXY_PORT}`]) {
    expect((await fetch(`${origin}/healthz`)).status, origin).toBe(200);
  }
  expect((await json(`${E2E_API_URL}/v1/environments`)).body.error.type).toBe('authentication_required');
  expect((await json(`${E2E_API_URL}/openapi.json`)).body.openapi).toBe('3.1.0');
  expect((await fetch(`${E2E_API_URL}/signin`)).status, 'the dashboard is served on its own port only').toBe(404);
  expect((await fetch(`http://localhost:${E2E_PROXY_PORT}/p/nobody-here/x`)).status).toBe(404);
  expect((await fetch(`${E2E_API_URL}/p/nobody-here/x`)).status, 'the path mount answers on the API port too').toBe(404);
});
