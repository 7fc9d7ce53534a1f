import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { HANDED_OVER, refusalIn, withoutShownOnce } from './answer.ts';
import { type ApiDocument, kindOf, operationsOf } from './document.ts';
import { draftFromLink, draftOf, emptyDraft, linkOf, preparedCall, withoutSecrets, withoutSecretTexts } from './draft.ts';

const operations = operationsOf(JSON.parse(fs.readFileSync('public/openapi.json', 'utf8')) as ApiDocument);
const byId = (id: string) => {
  const op = operations.find((one) => one.id === id);
  assert.ok(op, id);
  return op;
};

test('every operation of the document can be shown: a place for each parameter, a family, a way to edit each field', () => {
  assert.ok(operations.length > 50);
  for (const op of operations) {
    assert.deepEqual(op.inPath.map(({ name }) => name).sort(), [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(), op.id);
    for (const field of [...op.inPath, ...op.inQuery, ...op.inBody]) assert.ok(kindOf(field.schema), `${op.id} ${field.name}`);
  }
});

test('material that must not be shown is edited as a secret', () => {
  const value = byId('secrets.create').inBody.find(({ name }) => name === 'value');
  assert.equal(value && kindOf(value.schema), 'secret');
});

test('what an answer shows once is known before it comes, and every parameter has its words', () => {
  const marked = operations.filter(({ shownOnce }) => shownOnce.length > 0).map(({ id, shownOnce }) => [id, [...shownOnce].sort()]);
  assert.deepEqual(Object.fromEntries(marked), {
    'acme.create_account': ['hmac_key'],
    'agents.create': ['agent_secret'],
    'ai_gateways.agents.tokens.create': ['token'],
    'ai_gateways.agents.tokens.rotate': ['token'],
    'ai_gateways.tokens.create': ['token'],
    'api_keys.create': ['api_key'],
    'api_keys.rotate': ['api_key'],
    'client_tokens.create': ['token'],
    'clients.create_credential': ['private_key_pem', 'secret'],
    'crypto_keys.datakey': ['plaintext_b64'],
    'crypto_keys.decrypt': ['plaintext', 'plaintext_b64'],
    'dyn_db.mint': ['password'],
    'oauth_clients.create': ['client_secret'],
    'oauth_clients.rotate_secret': ['client_secret'],
    'pki.issue': ['private_key_pem'],
    'secrets.oauth2_token': ['access_token'],
    'signup.start': ['claim_handle'],
    'signup.claim': ['api_key'],
    'webhooks.create': ['secret_key'],
    'webhooks.rotate_secret': ['secret_key'],
    'wrap.create_token': ['base_url', 'token'],
  });
  for (const op of operations)
    for (const { name, schema } of [...op.inPath, ...op.inQuery, ...op.inHeader]) assert.ok(schema.description, `${op.id} ${name}`);
});

test('what an answer shows once is taken out of it, wherever it stands, and nothing else is', () => {
  const value = 'tk_test_needle';
  const made = withoutShownOnce(JSON.stringify({ data: { id: '1', api_key: value, name: 'api_key' }, meta: {} }), ['api_key']);
  assert.deepEqual(made.taken, [{ name: 'api_key', value }]);
  assert.deepEqual(JSON.parse(made.body), { data: { id: '1', api_key: HANDED_OVER, name: 'api_key' }, meta: {} });
  const nested = withoutShownOnce(JSON.stringify({ data: [{ reveal: { secret: value } }, { secret: null }] }), [
    'private_key_pem',
    'secret',
  ]);
  assert.deepEqual(nested.taken, [{ name: 'secret', value }]);
  assert.ok(!nested.body.includes('needle'));
  for (const [body, names] of [
    ['{"data":{"api_key": "x"}}', []],
    ['no JSON', ['api_key']],
    ['', ['api_key']],
  ] as const)
    assert.deepEqual(withoutShownOnce(body, names), { body, taken: [] });
});

test('a refusal says what to do next, also when its body is not ours', () => {
  const body = JSON.stringify({ error: { type: 'in_use', message: 'Still used.' } });
  assert.deepEqual(refusalIn({ status: 409, body }), {
    code: 'in_use',
    message: 'Still used.',
    next: 'Remove what uses it first.',
  });
  assert.equal(refusalIn({ status: 502, body: '<html>' }).message, 'The call failed with status 502.');
});

test('sign-up is not offered to someone signed in, nor what only machines may do, and everything else is', () => {
  assert.deepEqual(
    operations.filter((op) => op.machineOnly).map(({ id }) => id),
    [
      'crypto_keys.decrypt',
      'crypto_keys.rewrap',
      'dyn_db.mint',
      'dyn_db.renew',
      'encryption.decrypt',
      'encryption.rewrap',
      'pki.issue',
      'secrets.oauth2_token',
      'signup.start',
      'signup.claim',
      'vaults.list_tokens',
      'vaults.detokenize',
      'vaults.detokenize_many',
      'vaults.export_tokens',
      'vaults.search_tokens',
    ],
  );
});

test('a form becomes a call with typed values, and a call of the history becomes the same form again', () => {
  const op = byId('routes.update');
  const draft = {
    ...emptyDraft,
    path: { id: 'a b' },
    body: { name: 'x', timeout_ms: '2000', enabled: 'false', allowed_methods: 'GET, POST' },
  };
  const call = preparedCall(op, draft);
  assert.equal(call.path, '/routes/a%20b');
  assert.deepEqual(call.body, { name: 'x', timeout_ms: 2000, enabled: false, allowed_methods: ['GET', 'POST'] });
  const again = draftOf(op, { path: call.path, query: '', body: call.body ?? null });
  assert.deepEqual(preparedCall(op, again).body, call.body);
  assert.deepEqual(again.path, { id: 'a b' });
});

test('what is missing or unreadable is named before anything is sent', () => {
  assert.deepEqual(preparedCall(byId('secrets.create'), emptyDraft).missing.includes('name'), true);
  const op = byId('routes.update');
  assert.match(
    preparedCall(op, { ...emptyDraft, path: { id: 'x' }, body: { inject_headers_json: '{' } }).problem ?? '',
    /^inject_headers_json/,
  );
});

test('a call that is shared fills the same form for somebody else, and takes no secret, credential or header along', () => {
  const op = byId('routes.update');
  const draft = {
    path: { id: '' },
    query: {},
    headers: { 'Idempotency-Key': 'mine' },
    body: { name: 'Payments & more', timeout_ms: '2000', description: `sk_live_${'a'.repeat(24)}` },
  };
  const link = linkOf(op, draft);
  const call = new URL(link ?? '', 'http://x').searchParams.get('call') ?? '';
  assert.deepEqual(draftFromLink(op, call), {
    path: { id: '' },
    query: {},
    headers: {},
    body: { name: 'Payments & more', timeout_ms: '2000' },
  });
  assert.ok(!link?.includes('sk_live_') && !link?.includes('mine'));

  const secret = byId('secrets.create');
  const shared = linkOf(secret, { ...emptyDraft, body: { name: 'A', value: 'the value itself' } }) ?? '';
  assert.ok(!decodeURIComponent(shared).includes('the value itself'));
  assert.ok(decodeURIComponent(shared).includes('"name":"A"'));

  const query = linkOf(byId('routes.list'), { ...emptyDraft, query: { q: 'a b', per_page: '5' } });
  assert.deepEqual(draftFromLink(byId('routes.list'), new URL(query ?? '', 'http://x').searchParams.get('call') ?? '').query, {
    q: 'a b',
    per_page: '5',
  });
  assert.equal(linkOf(op, { ...emptyDraft, body: { inject_headers_json: '{' } }), undefined);
  assert.equal(linkOf(op, { ...emptyDraft, body: { name: 'x '.repeat(3_000) } }), undefined);
});

test('code has nothing that was typed as a secret, at any depth, and a form that was sent keeps none of it', () => {
  const data = { value: '203.0.113.7', secret: 'needle in a body' };
  const credential = byId('clients.create_credential');
  assert.deepEqual(withoutSecrets(credential, { kind: 'ip', data }), { kind: 'ip', data: { ...data, secret: '…' } });
  const secret = byId('secrets.create');
  const body = { name: 'A', value: 'needle in a body' };
  assert.deepEqual(withoutSecrets(secret, body), { name: 'A', value: '…' });
  const header = { inject_headers_json: { 'X-Api-Key': `sk_live_${'a1'.repeat(14)}`, 'X-Placed': '{{secret:A}}' } };
  const literals = {
    inject_headers_json: { Cookie: 'a=b1b1', 'X-Any': 'Bearer b1b1-b1b1', 'X-Key': 'Bearer {{secret:A}}', 'X-Team': 'payments' },
    inject_query_json: { sig: 'b1b1-b1b1' },
  };
  assert.deepEqual(withoutSecrets(byId('routes.update'), literals), {
    inject_headers_json: { Cookie: '…', 'X-Any': '…', 'X-Key': 'Bearer {{secret:A}}', 'X-Team': 'payments' },
    inject_query_json: { sig: '…' },
  });
  assert.ok(!JSON.stringify(withoutSecrets(byId('routes.update'), header)).includes('a1a1'));
  assert.deepEqual(withoutSecretTexts(secret, { ...emptyDraft, path: { id: 'x' }, body }), {
    ...emptyDraft,
    path: { id: 'x' },
    body: { name: 'A' },
  });
});

test('no field of any operation that is marked secret can be shared', () => {
  let tried = 0;
  for (const op of operations)
    for (const { name, schema } of op.inBody) {
      if (!JSON.stringify(schema).includes('"x-secret":true')) continue;
      tried++;
      const link = linkOf(op, { ...emptyDraft, body: { [name]: '"needle in a link"' } });
      assert.ok(!decodeURIComponent(link ?? '').includes('needle'), `${op.id} ${name}`);
    }
  assert.ok(tried >= 3, `${tried} fields are marked`);
  const open = linkOf(byId('secrets.create'), { ...emptyDraft, body: { name: 'needle' } });
  assert.ok(open?.includes('needle'), 'a field that is not marked can');
});
