import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import pg from 'pg';
import { finder, found, foundInFiles, type Needle, needle } from './leak-scan.ts';
import { type Answer, createWorkspace, json, operator, setting, startUpstream, type Upstream, unique, until } from './running-system.ts';

/**
 * Values that nobody has seen before are stored, injected, mistyped and sent to the wrong places; then every output of the running system is
 * searched for them, in clear and in the usual encodings. One hit outside of LEGAL fails.
 */
test.describe.configure({ mode: 'serial' });

/** Where a planted value may appear; everywhere else it is a leak. */
const LEGAL = {
  /** Answers that show a new credential once; each is named where it is asked for. */
  answers: new Set<string>(),
  /** Columns that hold such a value by design: `csrf_token` opens nothing without the session. */
  columns: { 'public.sessions': ['csrf_token'] } as Record<string, string[]>,
  /** Lines of the log that are the local mailbox of a development installation. */
  logLine: (line: string) => line.includes('"msg":"email (SMTP_URL is not set)"'),
};

const slug = unique('canary');
/** Long, unlike anything else, and with characters that encodings change. */
const fresh = (word: string) => `${word}-${randomBytes(18).toString('hex')}/+ "&<é%41`;
/** The same for places that take visible ASCII only. */
const plain = (word: string) => `${word}-${randomBytes(18).toString('hex')}`;

const needles: Needle[] = [];
/** Of these the mailed copy and the local mailbox are legal. */
const mailed: Needle[] = [];
const plant = (name: string, value: string): string => {
  needles.push(needle(name, value));
  return value;
};
const outputs: { what: string; text: string }[] = [];

const api = setting('E2E_API_URL');
const admin = setting('E2E_ADMIN_URL');
const proxy = `http://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}`;
const email = `${slug}@example.com`;
let upstream: Upstream;
let key: string;
let session: string;
let cookie: string;
let changedPassword: string;

type Init = Parameters<typeof json>[1];
/** Every answer is an output, with its headers; `shows` names the planted values that it exists to show. */
async function ask(what: string, url: string, init: Init = {}, shows: readonly string[] = []): Promise<Answer> {
  const answer = await json(url, init);
  outputs.push({ what, text: `${[...answer.headers].join('\n')}\n${answer.text}` });
  for (const name of shows) LEGAL.answers.add(`${what}: ${name}`);
  return answer;
}

test.beforeAll(async () => {
  upstream = await startUpstream((req, res, body) => {
    if (req.url?.startsWith('/oauth/')) {
      const said = `${req.headers.authorization} ${body}`;
      if (req.url.endsWith('breaks')) return void res.destroy();
      const sent = { error: said, error_description: said, error_uri: said };
      return void res.writeHead(req.url.endsWith('fails') ? 500 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(sent));
    }
    const status = req.url?.includes('fails') ? 500 : 200;
    res.writeHead(status, { 'content-type': 'application/json', 'x-echo': req.headers['x-injected'] ?? '' });
    res.end(req.url?.includes('quiet') ? '{}' : JSON.stringify({ url: req.url, headers: req.headers, body }));
  });
});
test.afterAll(() => upstream?.close());

test('plant: keys, passwords and sessions', async () => {
  const password = plant('owner password', plain('Owner'));
  await createWorkspace(slug, { email, password }, 'enterprise');
  key = plant('operator key', (await operator(['create-key', '--slug', slug, '--space', 'live'])).api_key as string);
  const headers = { 'idempotency-key': plain('idem') };
  const made = await ask('create a key', `${api}/v1/api-keys`, { key, body: { name: 'CI' }, headers }, ['created key']);
  expect(made.status, made.text).toBe(201);
  plant('created key', made.body.data.api_key);
  await ask('create a key again', `${api}/v1/api-keys`, { key, body: { name: 'CI' }, headers }, ['created key']);
  const rotated = await ask('rotate a key', `${api}/v1/api-keys/${made.body.data.id}/rotate`, { key, body: {} }, ['rotated key']);
  plant('rotated key', rotated.body.data.api_key);

  const from = { origin: admin };
  const wrong = plant('wrong password', plain('Wrong'));
  expect((await ask('sign in wrongly', `${admin}/auth/login`, { body: { email, password: wrong }, headers: from })).status).toBe(401);
  const signedIn = await ask('sign in', `${admin}/auth/login`, { body: { email, password }, headers: from }, [
    'session token',
    'session cookie',
  ]);
  expect(signedIn.status, signedIn.text).toBe(200);
  cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  session = plant('session token', signedIn.body.token ?? (await operator(['create-session', '--email', email])).token);
  plant('session cookie', /svc_session=([^;]+)/.exec(cookie)?.[1] ?? '');
  const changed = plant('new password', plain('Changed'));
  changedPassword = changed;
  const csrf = (await json(`${admin}/auth/me`, { headers: { cookie } })).body.csrf_token as string;
  const change = { current: password, new: changed };
  const kept = await ask(
    'change the password',
    `${admin}/auth/password/change`,
    { body: change, headers: { ...from, cookie, 'x-csrf-token': csrf } },
    ['next session', 'next cookie'],
  );
  expect(kept.status, kept.text).toBe(200);
  session = plant('next session', kept.body.token);
  cookie = kept.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  plant('next cookie', /svc_session=([^;]+)/.exec(cookie)?.[1] ?? '');
  const stranger = plant('cookie nobody gave', plain('svc'));
  await ask('a wrong cookie', `${admin}/auth/me`, { headers: { cookie: `svc_session=${stranger}` } });
  await ask('a wrong bearer', `${admin}/auth/me`, { headers: { authorization: `Bearer ses_${plant('wrong session', plain('x'))}` } });
  await ask('forgot the password', `${admin}/auth/password/forgot`, { body: { email }, headers: from });
  await ask('mail me a code', `${admin}/auth/magic/start`, { body: { email }, headers: from });
  const signup = await ask('sign up', `${api}/v1/signup`, { body: { email: `new-${email}`, tenant_name: 'Canary' } }, ['claim handle']);
  plant('claim handle', signup.body.data.claim_handle);
  await ask('claim', `${api}/v1/signup/claim`, { body: { claim_handle: signup.body.data.claim_handle } });
  await until('the mails are there', async () => (await mailedTokens()).length >= 3);
  for (const token of await mailedTokens()) mailed.push(needle('mailed token', token));
});

test('plant: secrets of every kind, and refusals that were shown one', async () => {
  const value = plant('secret value', fresh('Value'));
  const made = await ask('store a secret', `${api}/v1/secrets`, {
    key,
    body: { name: 'TOKEN', value, description: 'd' },
    headers: { 'idempotency-key': plain('s') },
  });
  expect(made.status, made.text).toBe(201);
  const id = made.body.data.id as string;
  await ask('rotate it', `${api}/v1/secrets/${id}/value`, { method: 'PUT', key, body: { value: plant('second value', fresh('Second')) } });
  const lines = plant('value of two lines', `${plain('Line')}\n${plain('Line')}`);
  await ask('store lines', `${api}/v1/secrets`, { key, body: { name: 'LINES', value: lines } });
  const ascii = plant('header value', plain('Header'));
  await ask('store a header', `${api}/v1/secrets`, { key, body: { name: 'HEADER', value: ascii } });

  const misplaced = () => plant('value in a wrong place', fresh('Misplaced'));
  const client = await ask('create a client', `${api}/v1/clients`, { key, body: { name: 'c', ip_address: '203.0.113.9' } });
  const signing = { kind: 'signature_hmac', data: { mode: 'import', secret: plant('signing key', fresh('Signing')) } };
  const kept = await ask('a signing key', `${api}/v1/clients/${client.body.data.id}/credentials`, { key, body: signing });
  expect(kept.status, kept.text).toBe(201);
  await ask('a crypto key', `${api}/v1/crypto/keys`, { key, body: { name: 'canary' } });
  await ask('a vault', `${api}/v1/vaults`, { key, body: { name: 'canary' } });
  const protect: [string, string, Record<string, unknown>][] = [
    ['encrypt a value', 'crypto/keys/canary/encrypt', { plaintext: plant('encrypted value', fresh('Encrypted')) }],
    ['encrypt JSON', 'encrypt', { data: { card: plant('sealed value', fresh('Sealed')) } }],
    ['tokenize', 'vaults/canary/tokens', { value: plant('vault value', fresh('Vault')), metadata: { a: 'b' } }],
    ['encrypt wrongly', 'crypto/keys/canary/encrypt', { plaintext: misplaced(), plaintext_b64: 'AA==' }],
    ['tokenize wrongly', 'vaults/canary/tokens', { value: [misplaced()] }],
  ];
  for (const [what, address, body] of protect) {
    const answer = await ask(what, `${api}/v1/${address}`, { key, body, headers: { 'idempotency-key': plain('p') } });
    expect(answer.status < 300, answer.text).toBe(!what.endsWith('wrongly'));
  }
  const bad: [string, Init][] = [
    ['no JSON', { body: `{"name":"X","value":"${plain('x')}${needlessQuote(misplaced())}` }],
    ['wrong type', { body: { name: { value: misplaced() }, value: 1 } }],
    ['a bad name', { body: { name: '!', value: misplaced() } }],
    ['another type', { body: { name: 'Y', secret_type: 'oauth2', client_secret: misplaced(), value: misplaced() } }],
    ['no such environment', { body: { name: 'Z', value: misplaced(), environment: 'nowhere' } }],
    ['taken name', { body: { name: 'TOKEN', value: misplaced() } }],
    ['NUL', { body: { name: 'N', value: `${misplaced()}\0` } }],
    ['another media type', { body: misplaced(), headers: { 'content-type': 'text/plain' } }],
    ['compressed', { body: { value: misplaced() }, headers: { 'content-encoding': 'gzip' } }],
    [
      'in the Idempotency-Key',
      { body: { name: 'TOKEN', value: 'x' }, headers: { 'idempotency-key': plant('idempotency key', plain('Idem')) } },
    ],
    ['in Service-Version', { body: {}, headers: { 'service-version': plant('version', plain('Version')) } }],
  ];
  for (const [what, init] of bad) {
    const answer = await ask(`a secret with ${what}`, `${api}/v1/secrets`, { key, ...init });
    expect(answer.status, `${what}: ${answer.text}`).toBeGreaterThanOrEqual(400);
    expect(answer.status, `${what}: ${answer.text}`).toBeLessThan(500);
  }
  await ask('an unknown key', `${api}/v1/secrets`, { key: `tk_live_${plant('unknown key', randomBytes(30).toString('hex'))}` });
  await ask('basic credentials', `${api}/v1/secrets`, {
    headers: { authorization: `Basic ${Buffer.from(plant('basic', plain('user:Basic'))).toString('base64')}` },
  });
  await ask('a key in the query', `${api}/v1/secrets?api_key=${key}&access_token=${plant('token in a query', plain('Query'))}`);
  await ask('a key in the path', `${api}/v1/secrets/${plant('token in a path', plain('Path'))}`, { key });

  const dashboard = { 'x-tenant-id': slug, 'x-svc-space': 'live', origin: admin, authorization: `Bearer ${session}` };
  const trpc = (procedure: string, body: unknown) =>
    ask(`tRPC ${procedure}`, `${admin}/admin/trpc/${procedure}`, { body, headers: dashboard });
  expect((await trpc('secrets.create', { name: 'BY_FORM', value: plant('value from the form', fresh('Form')) })).status).toBe(200);
  await trpc('secrets.create', { name: '!', value: misplaced() });
  await trpc('secrets.nothing', { value: misplaced() });
  await trpc('secrets.importEnv', { content: `BY_FILE=${plant('value from a file', plain('File'))}\n!bad=${plain('Bad')}\n` });
  await ask('import an .env file', `${admin}/admin/secrets/import-env`, {
    body: { content: `BY_FILE_2=${plant('value from a second file', plain('File'))}\n` },
    headers: dashboard,
  });
  const curl = `curl https://api.example.com/x -H 'Authorization: Bearer ${plant('pasted token', plain('Pasted'))}' -u 'u:${plant('pasted password', plain('Pasted'))}'`;
  await ask('paste a curl', `${admin}/admin/import/propose`, { body: { kind: 'curl', text: curl }, headers: dashboard }, [
    'pasted token',
    'pasted password',
  ]);
});

test('plant: calls that inject secrets, fail with them, and carry credentials of their own', async () => {
  const inject = {
    inject_headers_json: { 'x-injected': '{{secret:HEADER}}', authorization: 'Bearer {{secret:HEADER}}' },
    inject_query_json: { t: '{{secret:TOKEN}}' },
  };
  const route = async (name: string, more: object) => {
    const made = await ask(`route ${name}`, `${api}/v1/routes`, { key, body: { name, target_base_url: upstream.url, ...inject, ...more } });
    expect(made.status, made.text).toBe(201);
  };
  await route('echo', { inject_body_json: { deep: { secret: 'a {{secret:TOKEN}} b' } } });
  await route('gone', { target_base_url: 'http://127.0.0.1:9' });
  await route('broken', { inject_headers_json: { 'x-lines': '{{secret:LINES}}' } });
  await route('inlined', { inject_headers_json: { 'x-inline': 'Bearer {{secret:HEADER}}' }, timeout_ms: 500 });
  const own = {
    'x-svc-key': key,
    cookie: `c=${plant("the caller's cookie", plain('Cookie'))}`,
    'x-custom-token': plant("the caller's header", plain('Custom')),
  };
  // What an upstream sends back is the caller's, verbatim: it may hold what was sent there.
  const echoed = ['header value', 'second value', "the caller's cookie", "the caller's header", 'the body of a call'];
  const body = { card: plant('the body of a call', plain('Body')) };
  const call = async (what: string, target: string, init: Init = {}) => {
    const answer = await ask(what, `${proxy}${target}`, { headers: own, ...init }, echoed);
    expect(answer.headers.get('x-svc-request-id') ?? '', `${what}: ${answer.text}`).toHaveLength(36);
    return answer;
  };
  expect((await call('call', '/echo/x', { body })).status).toBe(200);
  expect(upstream.seen.at(-1)?.headers.authorization).toMatch(/^Bearer Header-/);
  await call('call that fails upstream', '/echo/fails', { body });
  await call('call with broken JSON', '/echo/x', { body: `{"x":"${plant('broken body', plain('Broken'))}` });
  await call('call of nobody', '/gone/x');
  expect((await call('call that cannot carry its secret', '/broken/x')).status).toBe(424);
  await call('call with a key in its query', `/echo/quiet?api_key=${key}&session=${session}`);
  await call('call with a placeholder', '/echo/quiet', { body: { note: '{{secret:TOKEN}} {{secret:NOT_THERE}}' } });
  await ask('call with a wrong key', `${proxy}/echo/x`, { headers: { 'x-svc-key': plant('wrong route key', plain('tk_live')) } });
  await ask(
    'call with two keys',
    `${proxy}/echo/x`,
    { headers: { 'x-svc-key': key, authorization: `Bearer ${plant('bearer for the upstream', plain('Bearer'))}` } },
    ['bearer for the upstream', ...echoed],
  );
});

test('plant: what people type into the explorer, a trial, a look at an upstream, a search and the reset of Test', async () => {
  const at = (space: 'live' | 'test') => ({ 'x-tenant-id': slug, 'x-svc-space': space, origin: admin, authorization: `Bearer ${session}` });
  const trpc = (what: string, procedure: string, body: unknown, space: 'live' | 'test' = 'live', shows: string[] = []) =>
    ask(what, `${admin}/admin/trpc/${procedure}`, { body, headers: at(space) }, shows);
  const send = (what: string, call: object, shows: string[] = []) =>
    ask(what, `${admin}/admin/explorer/send`, { body: { confirmed: true, ...call }, headers: at('live') }, shows);

  const explored = await send('explore a secret', {
    method: 'POST',
    path: '/secrets',
    body: { name: 'EXPLORED', value: plant('value from the explorer', fresh('Explored')) },
    headers: { 'Idempotency-Key': plant('key from the explorer', plain('Idem')) },
  });
  expect(JSON.parse(explored.text).status, explored.text).toBe(201);
  const mistyped = {
    name: 'MISTYPED',
    valeu: plant('value under a wrong name', fresh('Mistyped')),
    value: { deep: plant('value in an object', fresh('Deep')) },
  };
  await send('explore a mistake', { method: 'POST', path: '/secrets', body: mistyped });
  const minted = await send('explore a key', { method: 'POST', path: '/api-keys', body: { name: 'Explored' } }, ['explored key']);
  plant('explored key', JSON.parse(JSON.parse(minted.text).body).data.api_key);
  await ask('what was explored', `${admin}/admin/explorer/history`, { headers: at('live') });

  const routes = await json(`${api}/v1/routes`, { key });
  const echo = routes.body.data.find((route: { name: string }) => route.name === 'echo').id as string;
  const tried = await trpc(
    'try a route',
    'routes.test',
    {
      id: echo,
      method: 'POST',
      path: '/quiet',
      headers: [{ name: 'x-typed', value: plant('header of a trial', plain('Typed')) }],
      body: JSON.stringify({ typed: plant('body of a trial', plain('Trial')) }),
    },
    'live',
    ['header of a trial', 'body of a trial'],
  );
  expect(tried.status, tried.text).toBe(200);
  for (const url of [
    `https://user:${plant('password in a URL', plain('Url'))}@example.com`,
    `https://127.0.0.1:1/?token=${plant('token in a URL', plain('Token'))}`,
  ]) {
    await trpc('look at an upstream', 'routes.probe', { target_base_url: url });
    await trpc('lead a route there', 'routes.update', { id: echo, target_base_url: url });
  }
  const sought = plant('key that is searched for', `tk_live_${randomBytes(9).toString('hex')}_${randomBytes(24).toString('hex')}`);
  await ask('search for a key', `${admin}/admin/trpc/search.query?input=${encodeURIComponent(JSON.stringify({ q: sought }))}`, {
    headers: at('live'),
  });

  const collection = await trpc('a collection', 'collections.create', { name: 'C' }, 'test');
  const credential = plant('credential in a variable', `sk_live_${randomBytes(24).toString('hex')}`);
  const variable = { id: JSON.parse(collection.text).result.data.id, key: 'k', type: 'value', value: credential };
  expect((await trpc('a credential as a variable', 'collections.createVariable', variable, 'test')).status).toBe(400);
  await trpc('a secret in Test', 'secrets.create', { name: 'OF_TEST', value: plant('value of Test', fresh('OfTest')) }, 'test');
  const promoted = await trpc('promote', 'sandbox.promote', { items: 'all' }, 'test');
  expect(JSON.parse(promoted.text).result.data.summary.create, promoted.text).toBeGreaterThan(0);
  await trpc('copy', 'sandbox.clone', { items: 'all' });
  const wrong = { confirm_name: slug, password: plant('wrong password of a reset', plain('Reset')) };
  expect((await trpc('reset wrongly', 'sandbox.reset', wrong, 'test')).status).toBe(401);
  expect((await trpc('reset', 'sandbox.reset', { confirm_name: slug, password: changedPassword }, 'test')).status).toBe(200);
});

test('plant: wrapped keys, gateway tokens, calls of hosts that callers name, shares and connections', async () => {
  const host = `api.${slug}.example`; // resolves nowhere: what is put into a call that fails must not be in what it leaves behind
  const escrowed = plant('escrowed key', plain('Escrowed'));
  const credential = { provider: 'canary', name: 'ESCROWED', value: escrowed, hosts: [host] };
  const stored = await ask('escrow a key', `${api}/v1/wrap/credentials`, { key, body: credential });
  expect(stored.status, stored.text).toBe(201);
  const { secret_id } = stored.body.data;
  const rotated = { value: plant('second escrowed key', plain('Escrowed')) };
  expect((await ask('rotate it', `${api}/v1/secrets/${secret_id}/value`, { method: 'PUT', key, body: rotated })).status).toBe(200);
  for (const more of [
    { name: 'BAD', hosts: [`https://${plant('password of a host', plain('u:p'))}@${host}`] },
    { name: 'BAD', hosts: [host], value: `pk_${plant('publishable key', plain('Pk'))}` },
    { name: 'ESCROWED', hosts: [host], value: plant('key under a taken name', fresh('Taken')) },
  ])
    expect((await ask('escrow wrongly', `${api}/v1/wrap/credentials`, { key, body: { ...credential, ...more } })).status).toBeGreaterThan(
      399,
    );
  const minted = await ask('create a gateway token', `${api}/v1/wrap/tokens`, { key, body: { secret: 'ESCROWED' } }, ['gateway token']);
  expect(minted.status, minted.text).toBe(201);
  const token = minted.body.data.token as string;
  plant('gateway token', token.slice('wkt_'.length));
  const wg = (what: string, target: string, init: Init = {}) => ask(what, `${api}/wg/${target}`, init);
  const own = {
    headers: { authorization: `Bearer ${plant("the SDK's own key", plain('Own'))}` },
    body: { a: plant('body of an SDK', plain('Sdk')) },
  };
  expect((await wg('call through /wg', `${token}/${host}/v1/x?k=${plant('query of an SDK', plain('Q'))}`, own)).status).toBeGreaterThan(
    499,
  );
  expect((await wg('call of another host through /wg', `${token}/api.other.example/x`)).status).toBe(403);
  expect((await wg('climb out of /wg', `${token}/${host}/a%2f..%2fb`)).status).toBe(400);
  const unknown = Array.from(randomBytes(52), (byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte % 32]).join('');
  expect((await wg('an unknown gateway token', `wkt_${plant('unknown gateway token', unknown)}/${host}/x`)).status).toBe(401);
  await wg('a malformed gateway token', `wkt_${plant('malformed gateway token', plain('Wkt'))}/${host}/x`);

  const called = (what: string, headers: Record<string, string>, body?: unknown) =>
    ask(what, `${api}/v1/proxy?k=${plant('query of a proxied call', plain('Q'))}`, {
      key,
      headers: { 'x-svc-proxy-url': `https://${host}/x?s=${plant('query of an upstream', plain('S'))}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  const encrypted = (value: string) => ({ 'x-svc-encrypted': Buffer.from(JSON.stringify({ card: { cvc: value } })).toString('base64') });
  const held = encrypted(plant('encrypted value of a call', plain('Cvc')));
  const body = { own: plant('body of a proxied call', plain('Body')), cvc: '{{ encrypted | json: $.card.cvc }}' };
  expect((await called('proxy with an escrowed key', { 'x-svc-upstream-auth-secret': 'ESCROWED', ...held }, body)).status).toBeGreaterThan(
    499,
  );
  const transit = { 'x-svc-upstream-authorization': `Bearer ${plant('credential in transit', plain('Transit'))}` };
  expect((await called('proxy with a credential in transit', transit, body)).status).toBe(400);
  expect((await called('proxy with both credentials', { ...transit, 'x-svc-upstream-auth-secret': 'ESCROWED' })).status).toBe(400);
  expect((await called('proxy a malformed body', held, `{"x":"${plant('malformed body of a call', plain('Broken'))}`)).status).toBe(400);
  expect(
    (await called('proxy an unknown token', held, { a: `{{ token: ${plant('unknown vault token', plain('tok'))} }}` })).status,
  ).toBeGreaterThan(399);
  const addressed = { 'x-svc-proxy-url': `https://user:${plant('password of an upstream', plain('Pw'))}@${host}/` };
  expect((await called('proxy to a URL with a password', addressed)).status).toBe(400);
  const inside = { 'x-svc-proxy-url': 'https://metadata.google.internal/', ...transit };
  expect((await called('proxy to a name inside', inside)).status).toBe(403);

  const dashboard = { 'x-tenant-id': slug, 'x-svc-space': 'live', origin: admin, authorization: `Bearer ${session}` };
  const shared = await ask('store a secret to share', `${api}/v1/secrets`, {
    key,
    body: { name: 'SHARED', value: plant('shared value', fresh('Shared')) },
  });
  const share = { email: `partner-${email}`, access_level: 'use', allowed_hosts: [host] };
  const offered = await ask('share it', `${admin}/admin/secrets/${shared.body.data.id}/shares`, { headers: dashboard, body: share });
  expect(offered.status, offered.text).toBe(201);
  const claim = { token: plant('wrong claim token', plain('Claim')) };
  await ask('claim wrongly', `${admin}/admin/secret-shares/claim`, { headers: dashboard, body: claim });

  const client_secret = plant('client secret of a connection', fresh('Client'));
  const connection = { provider: 'custom', grant_type: 'client_credentials', client_id: 'canary', client_secret };
  for (const answers of ['says it back', 'fails', 'breaks']) {
    const token_url = `${upstream.url}/oauth/${answers.replaceAll(' ', '-')}`;
    const made = await ask(`a connection whose endpoint ${answers}`, `${api}/v1/secrets/oauth2`, {
      key,
      body: { name: `CONNECTION_${answers.split(' ')[0]?.toUpperCase()}`, ...connection, token_url },
    });
    expect(made.status, made.text).toBeGreaterThan(399);
  }
  expect(upstream.seen.filter(({ url }) => url.startsWith('/oauth/')).length, 'the endpoint was asked').toBeGreaterThan(2);
});

test('search: every answer that is not meant to show it', async () => {
  const pages = [
    '/',
    `/${slug}/live`,
    `/${slug}/live/routes`,
    `/${slug}/live/secrets`,
    `/${slug}/live/wrap`,
    `/${slug}/live/wrap?tab=tokens`,
    `/${slug}/live/api-keys`,
    `/${slug}/live/clients`,
    `/${slug}/live/logs`,
    `/${slug}/live/audit`,
    `/${slug}/live/explorer`,
    `/${slug}/test/promote`,
    `/${slug}/test/collections`,
    '/me/sessions',
    '/me/profile',
    '/me/security',
    '/me/preferences',
    '/mailbox',
    '/nothing-here',
  ];
  for (const page of pages) await ask(`page ${page}`, `${admin}${page}`, { headers: { cookie } });
  const lists = [
    'account',
    'account/usage',
    'api-keys',
    'audit-logs',
    'audit-logs/events',
    'clients',
    'environments',
    'logs',
    'roles',
    'routes',
    'secrets',
    'wrap/credentials',
    'wrap/tokens',
    'openapi.json',
  ];
  for (const list of lists) {
    const { body } = await ask(`GET ${list}`, `${api}/v1/${list}`, { key });
    for (const { id } of Array.isArray(body?.data) ? body.data.slice(0, 30) : [])
      await ask(`GET ${list}/one`, `${api}/v1/${list}/${id}`, { key });
  }
  const dashboard = { 'x-tenant-id': slug, 'x-svc-space': 'live', authorization: `Bearer ${session}` };
  for (const read of [
    'audit-logs',
    'audit-logs/export',
    'audit-logs/facets',
    'logs',
    'logs/stats',
    'logs/export',
    'plan',
    'tenant-kms/keys',
  ])
    expect((await ask(`GET /admin/${read}`, `${admin}/admin/${read}`, { headers: dashboard })).status, read).toBe(200);
  const search = finder([...needles, ...mailed, masterKey()]);
  for (const { what, text } of outputs) {
    const hits = [...search(Buffer.from(text))].filter((hit) => !LEGAL.answers.has(`${what}: ${hit.replace(/ \(\w+\)$/, '')}`));
    expect(hits, `in the answer to "${what}"`).toEqual(
      what === 'page /mailbox' ? hits.filter((hit) => hit.startsWith('mailed token')) : [],
    );
  }
});

test('search: standard output, standard error, and all files of the installation', async () => {
  const lines = fs
    .readFileSync(setting('E2E_LOG'), 'utf8')
    .split('\n')
    .filter((line) => !LEGAL.logLine(line));
  expect(lines.length, 'there is a log to search').toBeGreaterThan(5);
  const all = [...needles, ...mailed, masterKey()];
  const search = finder(all);
  expect(lines.flatMap((line) => [...search(Buffer.from(line))].map((hit) => `${hit} in ${line.slice(0, 500)}`))).toEqual([]);
  const isDatabase = (file: string) => file.includes('/postgres/') || file.endsWith('/master.key') || file === setting('E2E_LOG');
  expect(fs.readdirSync(path.join(setting('DATA_DIR'), 'snapshot')).length, 'there is a snapshot to search').toBeGreaterThan(1);
  expect(foundInFiles(setting('DATA_DIR'), all, isDatabase)).toEqual([]);
  const spills = process.env.LOG_SPILL_DIR ?? os.tmpdir();
  const ours = fs
    .readdirSync(spills)
    .filter((name) => name.startsWith('sallyport-log-spill-') && name.endsWith(`-${setting('E2E_PROXY_PORT')}`));
  expect(ours.length, 'there is a place where logs are spilled').toBeGreaterThan(0);
  for (const folder of ours) expect(foundInFiles(path.join(spills, folder), all)).toEqual([]);
  expect(foundInFiles('.next/static', all)).toEqual([]);
});

const QUIET_CALLS = 'select count(*) from request_logs where path like $1 and tenant_id = (select id from tenants where slug = $2)';

test('search: every column of every table, and the bytes of the database as they lie on disk', async () => {
  const client = new pg.Client({ connectionString: setting('DATABASE_URL') });
  await client.connect();
  try {
    await until('the calls are in the log', async () => Number((await client.query(QUIET_CALLS, ['%quiet%', slug])).rows[0].count) >= 2);
    const { rows: columns } = await client.query<{ name: string; columns: string[] }>(
      `select format('%s.%s', table_schema, table_name) as name, array_agg(column_name::text) as columns from information_schema.columns
       join information_schema.tables using (table_schema, table_name)
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') group by 1`,
    );
    expect(columns.length).toBeGreaterThan(30);
    const all = [...needles, ...mailed, masterKey()];
    const search = finder(all);
    const hits: string[] = [];
    let searched = 0;
    for (const table of columns) {
      // Whole rows as text: text, JSON, arrays, and bytea as hex, so that a plaintext in a column for ciphertext would be seen too.
      const [schema, name] = table.name.split('.').map((part) => pg.escapeIdentifier(part)) as [string, string];
      const { rows } = await client.query<Record<string, unknown>>(`select to_jsonb(t) as row from ${schema}.${name} t`);
      for (const { row } of rows as { row: Record<string, unknown> }[]) {
        searched++;
        for (const column of LEGAL.columns[table.name] ?? []) delete row[column];
        const text = JSON.stringify(row);
        for (const hit of search(Buffer.from(text))) hits.push(`${hit} in a row of ${table.name}: ${text.slice(0, 500)}`);
      }
    }
    expect(hits).toEqual([]);
    expect(searched).toBeGreaterThan(100);
    await client.query('checkpoint');
    const directory = (await client.query<{ data_directory: string }>('show data_directory')).rows[0]?.data_directory ?? '';
    expect(fs.existsSync(path.join(directory, 'PG_VERSION'))).toBe(true);
    expect(foundInFiles(directory, all)).toEqual([]);
  } finally {
    await client.end();
  }
});

test('the search finds what is there: the same values are found in the one place where each is legal', async () => {
  const shown = outputs.find(({ what }) => what === 'create a key')?.text ?? '';
  expect(found(shown, needles).map((hit) => hit.replace(/ \(\w+\)$/, ''))).toContain('created key');
  for (const encode of ['base64', 'base64url', 'hex'] as const)
    for (const before of ['', 'a', 'ab'])
      for (const one of needles) {
        const value = one.forms.find((form) => form.spelling === 'clear')?.bytes ?? Buffer.alloc(0);
        const hay = Buffer.concat([Buffer.from(before), value, Buffer.from('tail')]).toString(encode);
        expect(found(`prefix ${hay} suffix`, [one]).length, `${one.name} as ${encode} after "${before}"`).toBeGreaterThan(0);
      }
});

const masterKey = () =>
  needle('master key', process.env.MASTER_KEY_B64 ?? fs.readFileSync(path.join(setting('DATA_DIR'), 'master.key'), 'utf8').trim());
/** Leaves a JSON text without its end. */
const needlessQuote = (value: string) => JSON.stringify(value).slice(1, -1);

async function mailedTokens(): Promise<string[]> {
  const { mails } = (await (await fetch(`${admin}/auth/mailbox`)).json()) as { mails: { recipient: string; text: string }[] };
  return mails
    .filter(({ recipient }) => recipient.endsWith(email))
    .flatMap(({ text }) => [...text.matchAll(/token=([A-Za-z0-9_-]{43})/g)].map((match) => match[1] as string));
}
