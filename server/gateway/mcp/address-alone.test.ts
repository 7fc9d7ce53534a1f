import assert from 'node:assert/strict';
import test from 'node:test';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { allow, pageOf } from '#server/auth/logins.fixture.ts';
import { startDocuments } from '#server/domain/oauth-grants/client-documents.fixture.ts';
import { held } from '#server/domain/oauth-grants/client-documents.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { createTestPerson } from '#server/testing/test-person.ts';
import { ask, served, startGateway } from '../gateway.fixture.ts';
import { startWeb } from '../v1/web.fixture.ts';
import { makeGateway, makeServer } from './mcp.fixture.ts';
import { startLegacyUpstream } from './upstreams.fixture.ts';

// The official client, given the address of a server and nothing else: from the first 401 to a call of a tool.

const API = 'https://api.sallyport.example';
await testDatabase({ SVC_GATEWAYS: '1', PUBLIC_API_URL: API });
const documents = await startDocuments();
held.source = documents.source();
await startWeb();
const running = await startGateway();
const api = await running.gateway.listen('api', 0, '127.0.0.1');

/** Public addresses lead to the listeners of this test. */
function localFetch(slug: string): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const own = proxyUrl(slug, 'live');
  return async (target, init = {}) => {
    const { href, host, pathname, search, origin } = new URL(target);
    const headers = Object.fromEntries(new Headers(init.headers));
    const body = init.body === undefined || init.body === null ? undefined : String(init.body);
    const options = { method: init.method ?? 'GET', ...(body !== undefined && { body }) };
    const answer =
      origin === API
        ? await ask(api.port, 'api', pathname + search, { ...options, headers: { ...headers, host } })
        : await ask(running.port, slug, href.slice(own.length), { ...options, headers });
    const empty = answer.status === 202 || answer.status === 204;
    return new Response(empty ? null : answer.body, { status: answer.status, headers: answer.headers as Record<string, string> });
  };
}

test('the official client signs a person in and calls a tool by the address alone', async () => {
  const upstream = await startLegacyUpstream();
  const who = await createTestPerson({ signedIn: true });
  await makeServer(who.w, await makeGateway(who.w), 'vendor', { upstream_url: upstream.url, allowed_tools: ['echo'] });
  await served(running, who.w);
  documents.documents.set('/cli.json', documents.document('/cli.json', { client_name: 'Editor' }));
  const redirect = 'http://127.0.0.1:33418/callback';
  const local = localFetch(who.w.tenant.slug);
  const sent: URL[] = [];
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  const known = new Map<string, unknown>();
  const provider: OAuthClientProvider = {
    redirectUrl: redirect,
    clientMetadataUrl: `${documents.origin}/cli.json`,
    clientMetadata: { client_name: 'Editor', redirect_uris: [redirect] },
    clientInformation: () => known.get('client') as never,
    saveClientInformation: (client) => void known.set('client', client),
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved;
    },
    redirectToAuthorization: (url) => void sent.push(url),
    saveCodeVerifier: (text) => {
      verifier = text;
    },
    codeVerifier: () => verifier,
    state: () => 'st',
  };
  const url = new URL(`${proxyUrl(who.w.tenant.slug, 'live')}/v1/mcp/vendor`);
  const transport = () => new StreamableHTTPClientTransport(url, { authProvider: provider, fetch: local as never });
  const first = transport();
  const connecting = new Client({ name: 'editor', version: '1' }).connect(first as never);
  await assert.rejects(connecting, UnauthorizedError);
  const [authorization] = sent;
  assert.ok(authorization);
  assert.deepEqual(
    ['client_id', 'resource', 'scope'].map((name) => authorization.searchParams.get(name)),
    [`${documents.origin}/cli.json`, url.href, 'mcp:tools'],
  );
  const opened = await local(authorization);
  assert.equal(opened.status, 302, await opened.text());
  const handle = String(opened.headers.get('location')).split('/consent/')[1] as string;
  const page = await pageOf(who.b, handle);
  assert.ok(page.state === 'ask' && page.view.app.name === 'Editor');
  const answer = await allow(who.b, handle);
  await first.finishAuth(String(answer.code));
  const client = new Client({ name: 'editor', version: '1' });
  await client.connect(transport() as never);
  assert.deepEqual(
    (await client.listTools()).tools.map(({ name }) => name),
    ['echo'],
  );
  const echo = await client.callTool({ name: 'echo', arguments: { text: 'by the address alone' } });
  assert.match(JSON.stringify(echo.content), /You said: by the address alone/);
  assert.equal(await db().oauth_clients.count({ where: { tenant_id: who.w.tenant.id, client_id: `${documents.origin}/cli.json` } }), 1);
  await client.close();
});
