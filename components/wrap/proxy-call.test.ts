import assert from 'node:assert/strict';
import test from 'node:test';
import { callOf, type ProxyDraft, snippetOf } from './proxy-call.ts';

const draft: ProxyDraft = {
  url: ' https://api.stripe.com/v1/charges ',
  method: 'POST',
  secret: 'STRIPE_SDK_KEY',
  headers: 'Accept: application/json\n\nX-Time: 12:30\nX-Empty',
  body: `{"note":"it's"}`,
  encrypted: ' {"cvc":"123"} ',
};

test('lines become headers, and what is empty is not sent', () => {
  assert.deepEqual(callOf(draft), {
    url: 'https://api.stripe.com/v1/charges',
    method: 'POST',
    headers: [
      { name: 'Accept', value: 'application/json' },
      { name: 'X-Time', value: '12:30' },
      { name: 'X-Empty', value: '' },
    ],
    secret: 'STRIPE_SDK_KEY',
    body: `{"note":"it's"}`,
    encrypted: '{"cvc":"123"}',
  });
  assert.deepEqual(callOf({ ...draft, secret: 'none', headers: '', body: '', encrypted: ' ' }), {
    url: 'https://api.stripe.com/v1/charges',
    method: 'POST',
    headers: [],
  });
});

test('the code quotes for a shell, and holds neither a key nor the encrypted value', () => {
  const code = snippetOf(draft);
  assert.match(code, /--data-raw '\{"note":"it'\\''s"\}'/);
  assert.match(code, /-H 'X-Svc-Upstream-Auth-Secret: STRIPE_SDK_KEY'/);
  assert.ok(!code.includes('123'));
});
