import { randomUUID } from 'node:crypto';
import { digest, mintClientId, mintToken } from '#server/crypto/tokens.ts';
import { GRANTS } from '#server/domain/oauth-grants/client.ts';
import type { Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { ownAddress } from '#server/testing/people.ts';
import type { Workspace } from '#server/testing/workspace.ts';
import { handle } from './handle.ts';

// Clients, codes and calls of the authorization server as strangers make them, without a socket.

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever a client would see
export type Answer = { status: number; headers: Headers; body: any; text: string };

export type TestClient = Awaited<ReturnType<typeof makeClient>>;

type ClientOptions = {
  type?: 'confidential' | 'public';
  space?: Space;
  grants?: string[];
  scopes?: string[];
  step_up?: string[];
  require_dpop?: boolean;
  system_role?: 'cli';
};

/** A registered client. Confidential ones have `basic`, the value of their Authorization header. */
export async function makeClient(w: Workspace, options: ClientOptions = {}) {
  const { type = 'confidential', space = 'live', scopes = ['routes:read', 'routes:write'] } = options;
  const isPublic = type === 'public';
  const grants =
    options.grants ?? (isPublic ? [GRANTS.authorization_code, GRANTS.device_code, GRANTS.refresh_token] : [GRANTS.client_credentials]);
  const own = { tenant_id: w.tenant.id, sandbox: space === 'test' };
  const client_id = mintClientId(options.system_role === 'cli' ? 'cli' : 'client');
  const row = await db().oauth_clients.create({
    data: {
      id: newId(),
      ...own,
      client_id,
      name: 'Robot',
      type,
      grant_types: grants,
      allowed_scopes: scopes,
      step_up_scopes: options.step_up ?? [],
      redirect_uris: ['http://127.0.0.1/callback'],
      require_dpop: options.require_dpop ?? false,
      system_role: options.system_role ?? null,
    },
  });
  const { token: secret, digest: secretDigest } = mintToken('client_secret');
  if (!isPublic)
    await db().oauth_client_secrets.create({ data: { id: newId(), ...own, client_row_id: row.id, digest: new Uint8Array(secretDigest) } });
  return { row, client_id, secret, basic: basic(client_id, secret) };
}

export const basic = (id: string, secret: string): string => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** One POST of a form to an endpoint of the plane. */
export async function post(
  path: string,
  form: Record<string, string> | string,
  options: { authorization?: string; headers?: Record<string, string>; space?: Space; ip?: string } = {},
): Promise<Answer> {
  const request = new Request(`http://api.test${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(options.authorization ? { authorization: options.authorization } : {}),
      ...options.headers,
    },
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  });
  const edge = { space: options.space ?? 'live', ip: options.ip ?? ownAddress(), request_id: randomUUID(), user_agent: 'test' } as const;
  const response = await handle(request, edge);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === '' ? null : JSON.parse(text) };
}

/** RFC 7636 appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
export const REDIRECT = 'http://127.0.0.1:51234/callback';

/** A code as a consent leaves it. */
export async function makeCode(
  client: TestClient,
  userId: string,
  options: { scopes?: string[]; ageMs?: number; jkt?: string; step_up_at?: Date; resource?: string } = {},
) {
  const { token } = mintToken('authorization_code');
  const made = Date.now() - (options.ageMs ?? 0);
  const row = await db().oauth_codes.create({
    data: {
      digest: new Uint8Array(digest(token)),
      tenant_id: client.row.tenant_id,
      sandbox: client.row.sandbox,
      client_row_id: client.row.id,
      user_id: userId,
      scopes: options.scopes ?? ['routes:read', 'routes:write'],
      redirect_uri: REDIRECT,
      code_challenge: CHALLENGE,
      dpop_jkt: options.jkt ?? null,
      step_up_at: options.step_up_at ?? null,
      resource: options.resource ?? null,
      family_id: newId(),
      created_at: new Date(made),
      expires_at: new Date(made + 60_000),
    },
  });
  return { code: token, row };
}

/** Exchanges a code of a public client. */
export const redeem = (client: TestClient, code: string, more: Record<string, string> = {}, options: Parameters<typeof post>[2] = {}) =>
  post(
    '/oauth/token',
    { grant_type: 'authorization_code', code, code_verifier: VERIFIER, redirect_uri: REDIRECT, client_id: client.client_id, ...more },
    options,
  );

export const refresh = (client: TestClient, token: string, more: Record<string, string> = {}, options: Parameters<typeof post>[2] = {}) =>
  post('/oauth/token', { grant_type: 'refresh_token', refresh_token: token, client_id: client.client_id, ...more }, options);

/** What introspection says about a token to a confidential client of the workspace. */
export async function introspected(by: TestClient, token: string): Promise<Answer['body']> {
  const { status, body } = await post('/oauth/introspect', { token }, { authorization: by.basic });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

/** A person with a membership. */
export async function makePerson(w: Workspace, role = 'owner') {
  const id = newId();
  const user = await db().users.create({ data: { id, email: `${id}@example.com`, email_verified_at: new Date() } });
  const membership = await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: id, role } });
  return { user, membership };
}
