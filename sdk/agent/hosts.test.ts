import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rewritten, routesByHost, ruleFor, tunnelAllows } from './hosts.ts';
import type { InterceptRule, Manifest, Route } from './protocol.ts';

const route = (slug: string, host: string, base_path = '/', more: Partial<Route> = {}): Route => ({ slug, host, base_path, ...more });
const manifest = (...routes: Route[]): Manifest => ({
  mode: 'intercept',
  environment: null,
  proxy_url: 'https://acme.gw.example/',
  routes,
  intercept_rules: [],
  db_listeners: [],
  etag: 'e',
  sig: '',
});

test('finds routes by the host of their targets, and never the service itself', () => {
  const found = routesByHost(
    manifest(route('pay', 'API.pay.example', '/v1'), route('other', 'api.pay.example.'), route('self', 'acme.gw.example')),
  );
  assert.deepEqual([...found.keys()], ['api.pay.example']);
  assert.deepEqual(
    found.get('api.pay.example')?.map(({ slug }) => slug),
    ['pay', 'other'],
  );
});

test('rewrites to the route with the closest base path, byte for byte', () => {
  const covered = routesByHost(manifest(route('all', 'a.example'), route('deep', 'a.example', '/v1/users'))).get('a.example') ?? [];
  const to = (target: string, method = 'GET') => rewritten(covered, method, target, 'https://acme.gw.example/');
  assert.equal(to('/v1/users/1%2F2?x=1&x=2'), 'https://acme.gw.example/deep/1%2F2?x=1&x=2');
  assert.equal(to('/v1/users'), 'https://acme.gw.example/deep');
  assert.equal(to('/v1/users?all'), 'https://acme.gw.example/deep?all');
  assert.equal(to('/v1/usersx'), 'https://acme.gw.example/all/v1/usersx');
  assert.equal(to('/'), 'https://acme.gw.example/all/');
});

test('passes what no route covers, and raw card numbers', () => {
  const covered = routesByHost(manifest(route('read', 'a.example', '/v1', { allowed_methods: ['GET'] }))).get('a.example') ?? [];
  assert.equal(rewritten(covered, 'GET', '/v1/x', 'https://gw'), 'https://gw/read/x');
  assert.equal(rewritten(covered, 'DELETE', '/v1/x', 'https://gw'), undefined);
  assert.equal(rewritten(covered, 'GET', '/v2/x', 'https://gw'), undefined);
  const stripe = [route('stripe', 'api.stripe.com')];
  assert.equal(rewritten(stripe, 'POST', '/v1/charges', 'https://gw'), 'https://gw/stripe/v1/charges');
  for (const path of ['/v1/tokens', '//v1/tokens?x', '/v1/%74okens', '/v1/sources/1'])
    assert.equal(rewritten(stripe, 'POST', path, 'https://gw'), undefined, path);
});

test('answers a store’s call for exactly the secret that a rule names', () => {
  const rule: InterceptRule = {
    match_host: 'secretsmanager.eu-west-1.amazonaws.com',
    match_path_prefix: '/',
    match_secret_ref: 'prod/db',
    secret_id: 's',
    response_format: 'aws_sm',
  };
  const host = 'SecretsManager.eu-west-1.amazonaws.com';
  assert.equal(ruleFor([rule], host, '/', '/ {"SecretId":"prod/db"}'), rule);
  assert.equal(ruleFor([rule], host, '/', '/ {"SecretId":"prod/other"}'), undefined);
  assert.equal(ruleFor([rule], 'ssm.eu-west-1.amazonaws.com', '/', 'prod/db'), undefined);
});

test('the tunnel reaches what the host’s operator listed', () => {
  assert.equal(tunnelAllows(undefined, 'db.internal', 5432), true);
  assert.equal(tunnelAllows(['db.internal:5432', 'cache'], 'DB.internal', 5432), true);
  assert.equal(tunnelAllows(['db.internal:5432', 'cache'], 'db.internal', 22), false);
  assert.equal(tunnelAllows(['db.internal:5432', 'cache'], 'cache', 6379), true);
  assert.equal(tunnelAllows([], 'db.internal', 5432), false);
});
