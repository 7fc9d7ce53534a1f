import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as OTPAuth from 'otpauth';
import { createWorkspace, json, setting, unique } from './running-system.ts';

/** O2: a job's token becomes an access token that does what its binding allows; one for another audience is refused, and the audit log shows both. */
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const slug = unique('pipelines');
const owner = { email: `owner@${slug}.example`, password: 'seven bells in the tower' };

/** A platform for workloads on a port of its own. Its tokens are shaped like those of GitHub Actions. */
async function startPlatform() {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'platform-1', alg: 'RS256', use: 'sig' };
  const server = http.createServer((req, res) => {
    const body = req.url === '/keys' ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/keys` };
    res.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = (aud: string) =>
    new SignJWT({
      ...{ repository: 'acme/app', repository_owner: 'acme', repository_owner_id: '1234567', ref: 'refs/heads/main', event_name: 'push' },
      ...{ job_workflow_ref: 'acme/app/.github/workflows/deploy.yml@refs/heads/main', actor: 'octocat', run_attempt: '1' },
    })
      .setProtectedHeader({ alg: 'RS256', kid: jwk.kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject('repo:acme/app:ref:refs/heads/main')
      .setAudience(aud)
      .setJti(crypto.randomUUID())
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey);
  return { issuer, token, close: () => server.close() };
}

/** Calls the dashboard as the Owner, who confirms each change of a client with an authenticator app. */
async function asOwner() {
  const call = async (path: string, key: string | undefined, body: object, headers: Record<string, string> = {}) => {
    const space = { 'x-tenant-id': slug, 'x-svc-space': 'live' };
    const answer = await json(`${setting('E2E_ADMIN_URL')}${path}`, { ...(key ? { key } : {}), body, headers: { ...space, ...headers } });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const { token } = await call('/auth/login', undefined, owner);
  const setup = await call('/auth/2fa/setup', token, {});
  const totp = new OTPAuth.TOTP({ secret: setup.secret_base32, digits: 6, period: 30 });
  let step = -1;
  // A code is good once: that of the step before enrolls, that of this one and of the next confirm.
  const code = () => totp.generate({ timestamp: Date.now() + 30_000 * step++ });
  await call('/auth/2fa/verify', token, { setup_token: setup.setup_token, code: code() });
  return async (procedure: string, input: object) => {
    const verified = await call('/auth/2fa/verify-step-up', token, { action_scope: 'oauth.client', code: code() });
    return (await call(`/admin/trpc/${procedure}`, token, input, { 'x-svc-stepup': verified.step_up_token })).result.data;
  };
}

test('a workload exchanges its token for a scoped one, a wrong audience is refused, and the audit log shows both', async () => {
  await createWorkspace(slug, owner, 'enterprise');
  const platform = await startPlatform();
  const change = await asOwner();
  const scopes = ['environments:read', 'audit_logs:read'];
  const client = await change('oauthClients.create', {
    name: 'Pipeline',
    grant_types: [GRANT],
    allowed_scopes: [...scopes, 'environments:write'],
  });
  const audience = `service:api:${slug}`;
  const binding = {
    provider: 'github_actions',
    issuer: platform.issuer,
    subject: 'repo:acme/app:ref:refs/heads/*',
    claims: { repository_owner_id: '1234567' },
  };
  await change('trustBindings.create', { id: client.id, name: 'Deploy', audience, scopes, ttl_seconds: 900, ...binding });

  const exchange = async (subject_token: string) => {
    const form = { grant_type: GRANT, subject_token, subject_token_type: 'urn:ietf:params:oauth:token-type:id_token', tenant: slug };
    const response = await fetch(`${setting('E2E_API_URL')}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  };
  const job = await platform.token(audience);
  const { status, body } = await exchange(job);
  expect([status, body.scope, body.expires_in, body.client_id]).toEqual([200, 'audit_logs:read environments:read', 900, client.client_id]);
  const v1 = (path: string, sent?: object) =>
    json(`${setting('E2E_API_URL')}/v1${path}`, { key: body.access_token as string, ...(sent ? { body: sent } : {}) });
  expect((await v1('/environments')).status).toBe(200);
  expect((await v1('/environments', { name: 'staging' })).status).toBe(403);
  expect((await exchange(job)).body.error_description).toBe('The subject token was already exchanged.');
  const wrong = await exchange(await platform.token('sts.amazonaws.com'));
  expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_grant']);

  const { data } = (await v1('/audit-logs?resource_type=trust_binding&per_page=10')).body as {
    data: { action: string; details: { reason?: string; subject?: string } }[];
  };
  expect(data.map(({ action, details }) => [action, details.reason ?? null])).toEqual([
    ['login_failed', 'no_match'],
    ['login_failed', 'already_exchanged'],
    ['login', null],
    ['create', null],
  ]);
  expect(data[2]?.details.subject).toBe('repo:acme/app:ref:refs/heads/main');
  platform.close();
});
