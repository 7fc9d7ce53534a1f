import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rewritten, routesByHost, ruleFor } from './hosts.ts';
import type { InterceptRule, Manifest, Route } from './protocol.ts';

const route = (slug: string, target_base_url: string, more: Partial<Route> = {}): Route => ({
  id: slug,
  slug,
  target_base_url,
  environment: null,
  ...more,
});
const manifest = (...routes: Route[]): Manifest => ({
  proxy_url: 'https://acme.gw.example/',
  routes,
  intercept_rules: [],
  db_listeners: [],
  etag: 'e',
  sig: '',
});

test('finds routes by the host and port of their targets', () => {
  const found = routesByHost(
    manifest(
      route('pay', 'https://API.pay.example/v1'),
      route('plain', 'http://127.0.0.1:8080'),
      route('region', 'https://{{var:region}}.example.com'),
      route('self', 'https://acme.gw.example/pay'),
    ),
  );
  assert.deepEqual([...found.keys()].sort(), ['127.0.0.1:8080', 'api.pay.example:443']);
});

test('rewrites to the route with the closest base path, byte for byte', () => {
  const covered =
    routesByHost(manifest(route('all', 'https://a.example'), route('deep', 'https://a.example/v1/users/'))).get('a.example:443') ?? [];
  const to = (target: string, method = 'GET') => rewritten(covered, method, target, 'https://acme.gw.example/')?.url;
  assert.equal(to('/v1/users/1%2F2?x=1&x=2'), 'https://acme.gw.example/deep/1%2F2?x=1&x=2');
  assert.equal(to('/v1/users'), 'https://acme.gw.example/deep');
  assert.equal(to('/v1/users?all'), 'https://acme.gw.example/deep?all');
  assert.equal(to('/v1/usersx'), 'https://acme.gw.example/all/v1/usersx');
  assert.equal(to('/'), 'https://acme.gw.example/all/');
});

test('passes what no route covers', () => {
  const covered = routesByHost(manifest(route('read', 'https://a.example/v1', { allowed_methods: ['GET'] }))).get('a.example:443') ?? [];
  const to = (target: string, method: string) => rewritten(covered, method, target, 'https://gw')?.route.slug;
  assert.equal(to('/v1/x', 'GET'), 'read');
  assert.equal(to('/v1/x', 'DELETE'), undefined);
  assert.equal(to('/v2/x', 'GET'), undefined);
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
