import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { parse } from 'yaml';
import { cli } from '../../cli.fixture.ts';
import { file, home } from '../config.fixture.ts';

// Other products' files, through the command line; what comes out is applied to the running service.

const KONG = path.join(import.meta.dirname, 'kong.yaml');
const OPENAPI = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Shop API', version: '1' },
  servers: [
    { url: 'https://{region}.api.example.com/v1/', description: 'Production', variables: { region: { default: 'eu' } } },
    { url: 'https://staging.example.com' },
    { url: '/relative' },
  ],
  paths: { '/orders': { get: {}, post: {} }, '/orders/{id}': { delete: {}, parameters: [] } },
  components: {
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      token: { type: 'http', scheme: 'bearer' },
      page: { type: 'apiKey', in: 'query', name: 'api_key' },
      login: { type: 'oauth2', flows: {} },
      cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
    },
  },
});

type Document = Record<'secrets' | 'clients' | 'routes', Record<string, unknown>[]>;

test('a file of Kong becomes routes, limits, headers and clients', async () => {
  const { code, out, err } = await cli(['import', 'kong', KONG]);
  assert.equal(code, 0, err);
  const { routes, clients, secrets } = parse(out) as Document;
  const base = { timeout_ms: 15_000, retry_attempts: 3, allowed_methods: ['GET', 'POST'] };
  const limit = { rate_limit_enabled: true, rate_limit_requests: 2_000, rate_limit_window_sec: 3_600, rate_limit_per_client: true };
  const ip_allowlist = ['10.0.0.0/8', '203.0.113.9'];
  const injected = (secret: string) => ({
    inject_headers_json: { 'X-Tenant': 'shop', Authorization: `Bearer {{secret:${secret}}}`, 'X-Debug': null },
    inject_query_json: { channel: 'web' },
  });
  assert.deepEqual(routes, [
    {
      name: 'orders-v1',
      slug: 'orders',
      target_base_url: 'https://orders.internal.example.com/api',
      ...base,
      ip_allowlist,
      ...limit,
      ...injected('ORDERS_V1_AUTHORIZATION'),
    },
    {
      name: 'orders-v1 2',
      slug: 'old-orders',
      target_base_url: 'https://orders.internal.example.com/api',
      ...base,
      ip_allowlist,
      ...limit,
      ...injected('ORDERS_V1_AUTHORIZATION'),
    },
    {
      name: 'pay',
      slug: 'pay',
      target_base_url: 'https://payments.internal.example.com:8443/v2/pay',
      ip_allowlist,
      rate_limit_enabled: true,
      rate_limit_requests: 5,
      rate_limit_window_sec: 1,
    },
  ]);
  assert.deepEqual(clients, [
    { name: 'partner', ip_address: '198.51.100.1', credentials: [{ kind: 'ip', data: { value: '198.51.100.16/28' } }] },
  ]);
  assert.deepEqual(secrets, [{ name: 'ORDERS_V1_AUTHORIZATION', value_from: { env: 'ORDERS_V1_AUTHORIZATION' } }]);
  assert.doesNotMatch(out + err, /sk_live_|very-secret/);
});

test('what of Kong has no counterpart is said, member by member', async () => {
  const { err, out } = await cli(['import', 'kong', KONG]);
  for (const expected of [
    /services\[orders\]\.connect_timeout/,
    /services\[orders\]\.tags/,
    /services\[orders\]\.retries: became 3/,
    /services\[orders\]\.plugins\[rate-limiting\]\.config\.minute/,
    /plugins\[rate-limiting\]\.config\.policy/,
    /services\[orders\]\.plugins\[key-auth\]: every call needs an API key/,
    /plugins\[key-auth\]\.config\.key_names/,
    /routes\[orders-v1\]\.hosts/,
    /callers of \/old\/orders call \/old-orders/,
    /config\.rename\.headers/,
    /add\.headers\.Authorization: looks like a credential\. It was not copied/,
    /plugins\[cors\]: has no counterpart/,
    /routes\[exact\]\.paths: .* is a regular expression/,
    /services\[mailer\]: grpc:/,
    /plugins\[ip-restriction\]\.config\.deny/,
    /plugins\[prometheus\]/,
    /consumers\[partner\]\.keyauth_credentials: its key was not copied/,
    /consumers\[nobody\]: has nothing/,
    /upstreams: a route has one target/,
  ])
    assert.match(err, expected);
  assert.match(out, /^# services\[orders\]\.retries/m, 'the warnings stand in the file too');
});

test('an OpenAPI description becomes a route a server', async () => {
  const { code, out, err } = await cli(['import', 'openapi', file(OPENAPI, 'shop.json')]);
  assert.equal(code, 0, err);
  const { routes, secrets } = parse(out) as Document;
  const settings = {
    inject_headers_json: { 'X-Api-Key': '{{secret:SHOP_API_API_KEY}}', Authorization: 'Bearer {{secret:SHOP_API_TOKEN}}' },
    inject_query_json: { api_key: '{{secret:SHOP_API_API_KEY}}' },
    allowed_methods: ['GET', 'POST', 'DELETE'],
  };
  assert.deepEqual(routes, [
    { name: 'Shop API (Production)', slug: 'shop-api-production', target_base_url: 'https://eu.api.example.com/v1', ...settings },
    {
      name: 'Shop API (staging.example.com)',
      slug: 'shop-api-staging-example-com',
      target_base_url: 'https://staging.example.com',
      ...settings,
    },
  ]);
  assert.deepEqual(
    secrets.map(({ name }) => name),
    ['SHOP_API_API_KEY', 'SHOP_API_TOKEN'],
  );
  for (const expected of [
    /servers\[2\]/,
    /servers\[0\]\.variables\.region/,
    /securitySchemes\.login/,
    /securitySchemes\.cookie/,
    /every path below/,
  ])
    assert.match(err, expected);
});

test('what was imported can be applied, and is the same the second time', async () => {
  const values = { ORDERS_V1_AUTHORIZATION: 'one', SHOP_API_API_KEY: 'three', SHOP_API_TOKEN: 'four' };
  const { run } = await home('live', values);
  const folder = path.dirname(file('format: 1', 'empty.yaml'));
  assert.equal((await run(['import', 'kong', KONG, '-o', path.join(folder, 'kong.yaml')])).code, 0);
  assert.equal((await run(['import', 'openapi', file(OPENAPI, 'shop.json'), '-o', path.join(folder, 'shop.json')])).code, 0);
  assert.equal((JSON.parse(fs.readFileSync(path.join(folder, 'shop.json'), 'utf8')) as { format: number }).format, 1);
  const applied = await run(['apply', '-f', folder, '--yes']);
  assert.equal(applied.code, 0, applied.err + applied.out);
  assert.doesNotMatch(applied.err, /not stored as/);
  assert.equal((await run(['diff', '-f', folder])).code, 0);
});

test('files of another kind are refused', async () => {
  for (const [format, text, message] of [
    ['kong', 'services: []', /no _format_version/],
    ['kong', '_format_version: "3.0"', /nothing that can be imported/],
    ['openapi', 'swagger: "2.0"', /Swagger 2/],
    ['openapi', 'openapi: 3.0.0', /no server with an absolute address/],
    ['openapi', '[]', /not an OpenAPI 3/],
    ['kong', '{', /is not valid YAML/],
  ] as const) {
    const ended = await cli(['import', format, file(text)]);
    assert.deepEqual([ended.code, message.test(ended.err)], [2, true], ended.err);
  }
});
