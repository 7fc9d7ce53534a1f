import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { type RoleProcess, somePorts, startRole } from '#server/testing/processes.ts';
import { until } from '#server/testing/until.ts';
import { accepts } from './ports.ts';

// A whole installation as processes of its own, and what a caller does with one from outside: for tests of the database below it.

export type Answer = { status: number; headers: Headers; body: Record<string, never> & { data: never; error: { type: string } } };
type Sent = { method?: string; key?: string; body?: unknown; headers?: Record<string, string> };

export type Installation = {
  roles: readonly RoleProcess[];
  /** Addresses of the planes. */
  api: string;
  sandbox: string;
  admin: string;
  proxy: string;
};

/** Starts a web process, a gateway and a worker on a migrated database. The processes end with the test's (`endAll`). */
export async function startInstallation(databaseUrl: string, directory: string): Promise<Installation> {
  const ports = await somePorts();
  const [api, sandbox, admin, proxy] = [ports.api, ports.sandbox, ports.admin, ports.proxy].map((port) => `http://localhost:${port}`) as [
    string,
    string,
    string,
    string,
  ];
  const env = {
    DATABASE_URL: databaseUrl,
    MASTER_KEY_B64: randomBytes(32).toString('base64'),
    UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8,::1/128',
    PUBLIC_API_URL: api,
    PUBLIC_SANDBOX_API_URL: sandbox,
    PUBLIC_ADMIN_URL: admin,
    WEB_SOCKET: path.join(directory, 'web.sock'),
  };
  const settings = { env, directory, ports };
  // The dashboard isn't built for these tests: web answers without.
  const ready = () => accepts({ path: env.WEB_SOCKET });
  const roles = await Promise.all([
    startRole('web', { ...settings, ready }),
    startRole('gateway', settings),
    startRole('worker', settings),
  ]);
  return { roles, api, sandbox, admin, proxy };
}

/** One request, answered with whatever comes; JSON in both directions. */
export async function send(url: string, { method, key, body, headers }: Sent = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    redirect: 'manual',
    headers: {
      ...(key && { 'x-svc-key': key, authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : {} };
}

/** Signs up by the API and confirms the mailed link, as a new customer does. @returns the workspace's slug and its starter key, of Test */
export async function signUp({ api, admin }: Installation, name: string): Promise<{ slug: string; key: string }> {
  const email = `owner@${name}.example`;
  const begun = await send(`${api}/v1/signup`, { body: { email, tenant_name: name } });
  const { claim_handle } = begun.body.data as { claim_handle: string };
  const link = await until(async () => {
    const { mails } = (await send(`${admin}/auth/mailbox`)).body as unknown as { mails: { recipient: string; text: string }[] };
    return mails.find(({ recipient }) => recipient === email)?.text.match(/https?:\/\/\S+token=[A-Za-z0-9_-]{43}/)?.[0];
  }, 'the mail is there');
  await fetch(`${admin}/auth/magic`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: admin },
    body: new URLSearchParams({ token: new URL(link).searchParams.get('token') ?? '' }),
  });
  const claimed = await until(async () => {
    const { status, body } = await send(`${api}/v1/signup/claim`, { body: { claim_handle } });
    return status === 200 && (body.data as { tenant: { slug: string }; starter: { api_key: { api_key: string } } });
  }, 'the workspace is made');
  return { slug: claimed.tenant.slug, key: claimed.starter.api_key.api_key };
}
