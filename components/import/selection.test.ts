import assert from 'node:assert/strict';
import test from 'node:test';
import type { Proposal } from '#server/domain/import/schema.ts';
import { everything, importBody, kindOf, neededSecrets } from './selection.ts';

const proposal: Proposal = {
  routes: [
    {
      name: 'stripe',
      target_base_url: 'https://api.stripe.com',
      inject_headers_json: { Authorization: 'Bearer {{secret:STRIPE}}' },
      inject_query_json: {},
      sample_call: { method: 'GET', path: '/v1/charges' },
    },
    {
      name: 'maps',
      target_base_url: 'https://maps.example',
      inject_headers_json: {},
      inject_query_json: { key: '{{secret:MAPS}}' },
      sample_call: { method: 'GET', path: '/' },
    },
  ],
  secrets: [
    { name: 'STRIPE', value: 'sk_live_x', note: '' },
    { name: 'MAPS', note: '' },
  ],
  warnings: [],
};

test('a secret that no chosen route names is not stored', () => {
  const all = everything(proposal);
  const only = { ...all, routes: { ...all.routes, stripe: { chosen: false, name: 'stripe', target_base_url: 'x' } } };
  assert.deepEqual(neededSecrets(proposal, only), ['MAPS']);
  assert.deepEqual(importBody(proposal, only, { environment: 'production', collection_id: null }).secrets, [{ name: 'MAPS' }]);
});

test('a renamed secret is renamed in every template that names it', () => {
  const all = everything(proposal);
  const body = importBody(
    proposal,
    { ...all, secrets: { ...all.secrets, STRIPE: { name: 'PAY', value: 'v' } } },
    { environment: 'staging', collection_id: null },
  );
  assert.deepEqual(body.routes[0]?.inject_headers_json, { Authorization: 'Bearer {{secret:PAY}}' });
  assert.deepEqual(body.secrets[0], { name: 'PAY', value: 'v', environment: 'staging' });
  assert.equal(body.routes[0]?.base_environment, 'staging');
});

test('what was pasted tells by itself what it is', () => {
  assert.equal(kindOf("  $ curl -H 'a: b' https://x.example"), 'curl');
  assert.equal(kindOf('{"openapi":"3.1.0"}'), 'openapi');
  assert.equal(kindOf('# a comment\nopenapi: 3.0.0\n'), 'openapi');
  assert.equal(kindOf('hello'), undefined);
});
