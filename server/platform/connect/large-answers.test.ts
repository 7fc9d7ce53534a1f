import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { createResolver } from '../http-out/resolver.ts';
import { listen, loopback, toLoopback } from '../http-out/upstream.fixture.ts';
import { openHttp } from './http.ts';
import { createKeySource } from './issuer-keys.ts';
import { MOST_KEYS } from './key-list.ts';
import { discover } from './mcp-oauth.ts';
import { createTokenClient } from './oauth2.ts';
import { authorizationUrl } from './oidc.ts';

// Issuers, identity providers and token endpoints that answer as much as they may, in its worst shape, and more: beside the probe of the loop.

const resolver = createResolver({ settings: loopback, resolve: toLoopback });
const http = openHttp({ resolver });
test.after(() => http.close());
const KIB = 1024;
const PLACE = { tenant: 't1', space: 'live' };

/** JSON of that many bytes, slow to read: names, depth, numbers, texts with escapes. */
const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  depth: (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  members: (bytes) => `{${Array.from({ length: bytes / 12 - 2 }, (_, i) => `"${String(i).padStart(7, 'a')}":1`).join(',')}}`,
  numbers: (bytes) => `[${'1,'.repeat(bytes / 2 - 2)}1]`,
  escapes: (bytes) => `"${'\\u0041'.repeat(bytes / 6 - 1)}"`,
};

/** A server whose document at that path has another member, of that many bytes and that shape; the rest of the answer is what the caller wants. */
async function answering(documents: (origin: string) => Readonly<Record<string, object>>, at: string, more: string): Promise<string> {
  const origin: string = await listen(
    createServer((req, res) => {
      const document = documents(origin)[req.url ?? ''];
      if (!document) return void res.writeHead(404).end();
      const text = JSON.stringify(document);
      res.setHeader('content-type', 'application/json');
      res.end(req.url === at ? `${text.slice(0, -1)},"more":${more}}` : text);
    }),
  ).then((port) => `http://127.0.0.1:${port}`);
  return origin;
}

type Call = {
  most: number;
  documents: (origin: string) => Record<string, object>;
  ask: (origin: string) => Promise<unknown>;
  fault: object;
};
const DISCOVERY = '/.well-known/openid-configuration';
const discovery = (origin: string) => ({
  issuer: origin,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  jwks_uri: `${origin}/keys`,
  code_challenge_methods_supported: ['S256'],
});
const provider = (issuer: string) => ({ tenant: 't1', issuer, client_id: 'c', client_secret: null, token_auth: 'basic' as const });
const ask = { redirect_uri: 'https://a.example/b', state: 's', nonce: 'n', challenge: 'c' };
const signIn = (origin: string) => authorizationUrl(http, provider(origin), { ...ask, now: new Date() });
const keysOf = (origin: string) => createKeySource(resolver).keysOf(origin, new Date());
const withKeys = (origin: string) => ({ [DISCOVERY]: discovery(origin), '/keys': { keys: [] } });

const CALLS: Readonly<Record<string, Call & { at: string }>> = {
  'discovery of workload tokens': {
    ...{ at: DISCOVERY, most: 512 * KIB, documents: withKeys, ask: keysOf },
    fault: { name: 'IssuerFault', reason: 'issuer_unreachable' },
  },
  'keys of workload tokens': {
    ...{ at: '/keys', most: 512 * KIB, documents: withKeys, ask: keysOf },
    fault: { name: 'IssuerFault', reason: 'issuer_unreachable' },
  },
  'discovery of an identity provider': {
    ...{ at: DISCOVERY, most: 512 * KIB, documents: withKeys, ask: signIn },
    fault: { name: 'OidcFault', reason: 'provider_unreachable' },
  },
  'keys of an identity provider': {
    ...{ at: '/keys', most: 512 * KIB, documents: withKeys, ask: signIn },
    fault: { name: 'OidcFault', reason: 'provider_unreachable' },
  },
  'metadata of the authorization server of an MCP server': {
    ...{ at: '/.well-known/oauth-authorization-server', most: 256 * KIB },
    documents: (origin) => ({ '/.well-known/oauth-authorization-server': discovery(origin) }),
    ask: (origin) => discover(http, PLACE, { url: `${origin}/mcp` }),
    // What is cut is no document, and there is no other.
    fault: { name: 'ConnectFault', reason: 'unsupported' },
  },
  'tokens of client credentials': {
    ...{ at: '/token', most: 64 * KIB, documents: () => ({ '/token': { access_token: 'a', token_type: 'Bearer' } }) },
    ask: (origin) => createTokenClient(http).token({ ...PLACE, credential: 'c', token_endpoint: `${origin}/token`, client_id: 'c' }),
    fault: { name: 'TokenFault' },
  },
};

for (const [what, { at, most, documents, ask: call, fault }] of Object.entries(CALLS))
  test(`${what}: as much as it may be holds nobody up, and more is refused`, async () => {
    for (const [shape, of] of Object.entries(SHAPES)) {
      const origin = await answering(documents, at, of(most - KIB));
      const outcome = await neverBlocks(() =>
        call(origin).then(
          () => 'read',
          ({ name }: Error) => name,
        ),
      );
      // What is deeper, or has more entries, than any document is refused as one that is none.
      assert.match(outcome, shape === 'members' || shape === 'escapes' ? /^read$/ : /^(?:read|IssuerFault|OidcFault|ConnectFault)$/, shape);
    }
    const endless = await answering(documents, at, `"${'x'.repeat(most)}"`);
    await assert.rejects(call(endless), fault);
  });

test('a set of more keys than anybody has is refused, before any is copied or compared', async () => {
  const keys = (count: number) => Array.from({ length: count }, (_, i) => ({ kty: 'oct', kid: `${i}`, k: 'AA' }));
  for (const [count, fits] of [
    [MOST_KEYS, true],
    [MOST_KEYS + 1, false],
    [8_000, false],
  ] as const) {
    const documents = (from: string) => ({ [DISCOVERY]: discovery(from), '/keys': { keys: keys(count) } });
    for (const call of [signIn, keysOf]) {
      const from = await answering(documents, '', '');
      const result = await neverBlocks(() =>
        call(from).then(
          () => true,
          (error: { reason: string }) => error.reason,
        ),
      );
      if (fits) assert.equal(result, true);
      else assert.match(String(result), /misconfigured$/);
    }
  }
});
