import assert from 'node:assert/strict';
import test from 'node:test';
import { CLI_CLIENT } from '#server/domain/oauth-clients/cli-client.shared.ts';
import { PERSON_FORBIDDEN_SCOPES } from '#server/kernel/scopes.ts';
import { answerAddress, readAuthorize, redirectOf, stateOf } from './authorize-rules.ts';

const client = {
  grant_types: ['authorization_code'],
  redirect_uris: ['https://app.example.com/cb?from=us', 'http://127.0.0.1/callback'],
  allowed_scopes: ['routes:read', 'routes:write', 'transit:decrypt'],
};
const BASE = 'https://api.example.com/v1';
const GOOD = {
  response_type: 'code',
  client_id: 'svc_client_abc',
  redirect_uri: 'http://127.0.0.1:51234/callback',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};
const read = (change: Record<string, string | string[]>) => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...GOOD, ...change })) for (const one of [value].flat()) query.append(name, one);
  return readAuthorize(query, client, (address) => address === BASE);
};
const errorOf = (change: Record<string, string | string[]>) => {
  const answer = read(change);
  return 'error' in answer ? answer.error : 'accepted';
};

test('a plain request is accepted, and what it leaves out has its default', () => {
  assert.deepEqual(read({ state: 'é&x', nonce: 'ignored', scope: '' }), {
    redirect_uri: GOOD.redirect_uri,
    code_challenge: GOOD.code_challenge,
    state: 'é&x',
    scopes: [],
    scope_named: false,
    confirm: false,
    tenant_hint: null,
    resource: null,
    dpop_jkt: null,
    prompt: [],
    login_hint: null,
  });
});

test('every rule of a parameter is refused with its error', () => {
  const cases: [Record<string, string | string[]>, string][] = [
    [{ response_type: '' }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: 'code token' }, 'unsupported_response_type'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ response_mode: 'query' }, 'accepted'],
    [{ acr_values: ['step_up', 'step_up'] }, 'invalid_request'],
    [{ acr_values: 'unknown' }, 'accepted'],
    [{ code_challenge: '' }, 'invalid_request'],
    [{ code_challenge: GOOD.code_challenge.slice(1) }, 'invalid_request'],
    [{ code_challenge: `${GOOD.code_challenge.slice(0, 42)}=` }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge_method: '' }, 'invalid_request'], // absent means plain (RFC 7636 §4.3)
    [{ code_challenge_method: 's256' }, 'invalid_request'],
    [{ state: 'x'.repeat(1025) }, 'invalid_request'],
    [{ state: 'x'.repeat(1024) }, 'accepted'],
    [{ state: ['a', 'a'] }, 'invalid_request'],
    [{ state: 'a\0b' }, 'invalid_request'],
    [{ client_id: ['a', 'b'] }, 'invalid_request'],
    [{ scope: 'routes:read nothing:here' }, 'invalid_scope'],
    [{ scope: 'secrets:read' }, 'invalid_scope'],
    [{ scope: 'toString' }, 'invalid_scope'],
    [{ scope: 'transit:decrypt' }, 'invalid_scope'],
    [{ resource: BASE }, 'accepted'],
    [{ resource: `${BASE}/` }, 'invalid_target'],
    [{ resource: '' }, 'invalid_target'],
    [{ resource: 'https://acme.example.com/v1/mcp/tools' }, 'invalid_target'],
    [{ dpop_jkt: 'short' }, 'invalid_request'],
    [{ dpop_jkt: GOOD.code_challenge }, 'accepted'],
    [{ prompt: 'none login' }, 'invalid_request'],
    [{ prompt: 'create' }, 'invalid_request'],
    [{ prompt: 'login consent' }, 'accepted'],
    [{ tenant: 'x'.repeat(101) }, 'invalid_request'],
  ];
  for (const [change, error] of cases) assert.equal(errorOf(change), error, JSON.stringify(change));
  const query = new URLSearchParams(GOOD);
  const answer = readAuthorize(query, { ...client, grant_types: ['client_credentials'] }, (address) => address === BASE);
  assert.equal('error' in answer && answer.error, 'unauthorized_client');
});

test('scopes that no person carries are left out, and a malformed one is not repeated', () => {
  const mixed = read({ scope: 'transit:decrypt routes:write routes:read routes:write' });
  assert.deepEqual('scopes' in mixed && mixed.scopes, ['routes:read', 'routes:write']);
  const hostile = read({ scope: '<script>"alert"' });
  assert.deepEqual(hostile, { error: 'invalid_scope', description: 'scope is malformed.' });
});

test('the command line never asks for what no person may carry', () => {
  for (const scope of PERSON_FORBIDDEN_SCOPES) assert.ok(!CLI_CLIENT.allowed_scopes.includes(scope), scope);
  assert.ok(!CLI_CLIENT.allowed_scopes.includes('oauth:introspect'));
});

test('only a registered address is answered at all', () => {
  const at = (...uris: string[]) => redirectOf(new URLSearchParams(uris.map((uri) => ['redirect_uri', uri])), client);
  assert.equal(at('http://127.0.0.1:9/callback'), 'http://127.0.0.1:9/callback');
  for (const uri of [
    '',
    'http://localhost:9/callback',
    'http://127.0.0.1.evil.com/callback',
    'http://127.0.0.1@evil.com/callback',
    'http://127.0.0.1:9/callback#x',
    'http://127.0.0.1/%2e%2e/callback',
    'https://app.example.com./cb?from=us',
    'https://app.example.com/cb',
    'https://аpp.example.com/cb?from=us', // Cyrillic
    'javascript:alert(1)',
  ])
    assert.equal(at(uri), null, uri);
  assert.equal(at('http://127.0.0.1/callback', 'http://127.0.0.1/callback'), null);
  assert.equal(at('HTTPS://APP.example.com:443/cb?from=us'), 'HTTPS://APP.example.com:443/cb?from=us');
});

test('answers keep the query of the address and encode what they carry', () => {
  assert.equal(
    answerAddress('https://a.test/cb?x=1', { state: 'a b&c', code: null, iss: 'https://i' }),
    'https://a.test/cb?x=1&state=a+b%26c&iss=https%3A%2F%2Fi',
  );
  assert.equal(answerAddress('com.example.app:/cb', { code: 'c' }), 'com.example.app:/cb?code=c');
  assert.equal(stateOf(new URLSearchParams('state=x&state=y')), null);
});
