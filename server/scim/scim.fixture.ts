import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { mintToken } from '#server/crypto/tokens.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { handleScim } from './handle.ts';

/** A workspace with a verified domain and a directory that has a credential of each space. */
export async function directory(options: Parameters<typeof workspace>[0] = {}) {
  const w = await workspace(options);
  const domain = `${w.tenant.slug}.example`;
  await verifiedDomain(w, domain);
  const live = await credential(w);
  const test = await credential(w, 'test');
  return { ...w, domain, live_credential: live, test_credential: test, scim: client(live.token), scimTest: client(test.token) };
}

export const verifiedDomain = (w: Pick<Workspace, 'tenant'>, domain: string) =>
  db().tenant_domains.create({
    data: { id: newId(), tenant_id: w.tenant.id, domain, status: 'verified', txt_value: 'x', verified_at: new Date() },
  });

export async function credential(
  { tenant }: Pick<Workspace, 'tenant'>,
  space: 'live' | 'test' = 'live',
  expires_at = new Date(Date.now() + 3_600_000),
) {
  const { token, digest } = mintToken('scim');
  const id = newId();
  await db().scim_credentials.create({
    data: {
      id,
      tenant_id: tenant.id,
      space,
      name: 'Okta',
      digest: new Uint8Array(digest),
      prefix: `${token.slice(0, 11)}...`,
      creator_label: 'owner@example.com',
      expires_at,
    },
  });
  return { id, token };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Answer = { status: number; body: any; text: string; headers: Headers };
export type Asking = { host?: string; ip?: string; headers?: Record<string, string>; raw?: string };

/** Calls the plane as the front door would: on the admin host, or the host of a workspace. */
export async function ask(
  method: string,
  path: string,
  token: string | null,
  body?: unknown,
  { host = 'admin', ip = '192.0.2.1', headers = {}, raw }: Asking = {},
): Promise<Answer> {
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const req = new Request(`http://scim.test/scim/v2${path}`, {
    method,
    headers: {
      host: host === 'admin' ? 'admin.test' : `${host}.proxy.test`,
      ...(host === 'admin'
        ? { 'x-sallyport-plane': 'admin' }
        : { 'x-sallyport-plane': 'tenant', 'x-sallyport-space': 'live', 'x-sallyport-tenant': host }),
      'x-sallyport-proto': 'https',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(text === undefined ? {} : { 'content-type': 'application/scim+json' }),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
  });
  const res = await handleScim(req, { space: 'live', ip, request_id: newId(), user_agent: 'directory' });
  const answered = await res.text();
  return { status: res.status, body: answered ? JSON.parse(answered) : null, text: answered, headers: res.headers };
}

/** Calls with a credential. */
export const client = (token: string, asking: Asking = {}) => ({
  token,
  get: (path: string, more: Asking = {}) => ask('GET', path, token, undefined, { ...asking, ...more }),
  post: (path: string, body: unknown, more: Asking = {}) => ask('POST', path, token, body, { ...asking, ...more }),
  put: (path: string, body: unknown) => ask('PUT', path, token, body, asking),
  patch: (path: string, ...Operations: unknown[]) =>
    ask('PATCH', path, token, { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations }, asking),
  remove: (path: string) => ask('DELETE', path, token, undefined, asking),
});

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** A person as Okta creates them. */
export const person = (userName: string, more: Record<string, unknown> = {}) => ({
  schemas: [USER],
  userName,
  name: { givenName: 'Ann', familyName: 'Lee' },
  emails: [{ primary: true, value: userName, type: 'work' }],
  displayName: 'Ann Lee',
  groups: [],
  active: true,
  ...more,
});

/** The live membership of an address. */
export const membershipOf = (tenantId: string, email: string) =>
  db().memberships.findFirst({ where: { tenant_id: tenantId, removed_at: null, user: { email } }, include: { user: true } });

/** The plane on a port of its own, as on the admin host. */
export async function serveScim(): Promise<{ base_url: string; close: () => Promise<void> }> {
  const server = http.createServer((incoming, outgoing) => void relay(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    base_url: `http://127.0.0.1:${port}/scim/v2`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function relay(incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> {
  const body = await buffer(incoming);
  const headers = new Headers(incoming.headers as Record<string, string>);
  headers.set('x-sallyport-plane', 'admin');
  headers.set('x-sallyport-proto', 'http');
  const req = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method ?? 'GET',
    headers,
    ...(body.length > 0 ? { body } : {}),
  });
  const res = await handleScim(req, { space: 'live', ip: '192.0.2.9', request_id: newId(), user_agent: 'tester' });
  outgoing.writeHead(res.status, Object.fromEntries(res.headers)).end(Buffer.from(await res.arrayBuffer()));
}
